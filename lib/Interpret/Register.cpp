//===- Register.cpp - Attaches the semantics of all ops -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectRegistry.h"

using namespace smp;

#include "smp/Interpret/InterpretInterfaces.cpp.inc"

void interpret::registerInterpreter(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, SmpDialect *) {
    attachActionSemantics(context);
    attachElementwiseSemantics(context);
    attachActivationSemantics(context);
    attachShapeSemantics(context);
    attachReductionSemantics(context);
    attachProductSemantics(context);
    attachNormSemantics(context);
    attachAttentionSemantics(context);
    attachBatchNormSemantics(context);
    attachConvolutionSemantics(context);
    attachIndexSemantics(context);
    attachLossSemantics(context);
    attachLoweredSemantics(context);
    attachRandomSemantics(context);
    attachOptimizerSemantics(context);
    attachDistributionSemantics(context);
    attachProgramSemantics(context);
  });
  registry.addExtension(
      +[](mlir::MLIRContext *context, mlir::arith::ArithDialect *) {
        attachArithSemantics(context);
      });
}
