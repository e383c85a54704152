//===- CloneableValues.cpp - Values that are cheaper to make again than to send
//-*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CloneableValues.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace smp;

CloneableValues::Kind CloneableValues::classify(Value value) {
  if (isa<BlockArgument>(value))
    return {true, true};
  auto [entry, isNew] = kinds.try_emplace(value);
  if (!isNew)
    return entry->second;
  Operation *op = value.getDefiningOp();
  Kind kind{isPure(op) && !isa<GetParameterOp>(op), false};
  for (Value operand : op->getOperands()) {
    Kind source = classify(operand);
    kind.cloneable &= source.cloneable;
    kind.variable |= source.variable;
  }
  // A float that depends on the data is an activation.
  if (kind.variable && !getElementTypeOrSelf(value.getType()).isInteger())
    kind.cloneable = false;
  return kinds[value] = kind;
}
