//===- Activity.cpp - Which values gradients flow through -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

bool smp::isDifferentiableType(Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

void Activity::addRoot(Value root) {
  if (isDifferentiableType(root.getType()))
    active.insert(root);
}

void Activity::propagate(Block &block) {
  for (Operation &op : block) {
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (differentiable && differentiable.stopsGradient())
      continue;
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return isActive(operand); }))
      for (Value result : op.getResults())
        addRoot(result);
  }
}

SmallVector<bool> Activity::wantedOperands(Operation *op) const {
  return llvm::map_to_vector(op->getOperands(), [&](Value operand) -> bool {
    return isActive(operand);
  });
}
