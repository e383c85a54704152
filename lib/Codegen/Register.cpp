//===- Register.cpp - Code models of all ops -------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/Register.h"
#include "Models/Register.h"
#include "smp/Codegen/KernelEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace smp;

#include "smp/Codegen/CodegenInterfaces.cpp.inc"

void codegen::registerCodegen(DialectRegistry &registry) {
  registry.insert<SmpDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registry.addExtension(+[](MLIRContext *context, SmpDialect *) {
    attachElementwiseModels(context);
    attachShapeModels(context);
    attachIndexModels(context);
    attachRandomModels(context);
    attachOptimizerModels(context);
    attachReductionModels(context);
    attachNormModels(context);
    attachPoolingModels(context);
    attachLossModels(context);
    attachAttentionModels(context);
  });
}
