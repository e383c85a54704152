//===- SmpDialect.cpp - Registration, constants, defaults -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace smp;

#include "smp/IR/SmpDialect.cpp.inc"
#include "smp/IR/SmpEnums.cpp.inc"
#include "smp/IR/SmpInterfaces.cpp.inc"

void SmpDialect::initialize() {
  registerAttributes();
  registerAttentionOps();
  registerBatchNormOps();
  registerConvolutionOps();
  registerDistributionOps();
  registerElementwiseOps();
  registerIndexOps();
  registerLossOps();
  registerLoweredOps();
  registerNormOps();
  registerOptimizerOps();
  registerProductOps();
  registerProgramOps();
  registerRandomOps();
  registerReductionOps();
  registerShapeOps();
}

Operation *SmpDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  if (isa<IndexType>(type))
    return arith::ConstantOp::materialize(builder, value, type, loc);
  if (auto elements = dyn_cast<ElementsAttr>(value))
    return ConstantOp::create(builder, loc, type, elements);
  return nullptr;
}

int64_t smp::detail::defaultFlops(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
}

int64_t smp::detail::defaultBytes(Operation *op) {
  auto bytes = [](Type type) -> int64_t {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return 0;
    return tensor.getNumElements() *
           llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
  };
  int64_t total = 0;
  for (Type type : op->getOperandTypes())
    total += bytes(type);
  for (Type type : op->getResultTypes())
    total += bytes(type);
  return total;
}

void smp::copyScope(Operation *from, Operation *to) {
  auto source = dyn_cast<ModelOpInterface>(from);
  auto target = dyn_cast<ModelOpInterface>(to);
  if (source && target && target.getScope().empty())
    target.setScope(source.getScope());
}
