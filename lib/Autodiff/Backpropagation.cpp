//===- Backpropagation.cpp - The reverse sweep over a function ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backpropagation.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

Value smp::createSeed(OpBuilder &builder, Value value) {
  return FillOp::create(builder, value.getLoc(), value.getType(),
                        builder.getF64FloatAttr(1.0), ValueRange());
}

void Backpropagation::add(Value value, Value cotangent, Operation *user) {
  Value &sum = cotangents[value];
  if (!sum) {
    sum = cotangent;
    return;
  }
  auto op = AddOp::create(builder, cotangent.getLoc(), sum, cotangent);
  if (user)
    copyScope(user, op);
  sum = op;
}

LogicalResult Backpropagation::run(ArrayRef<Operation *> forward) {
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult Backpropagation::visit(Operation *op) {
  SmallVector<Value> of = llvm::map_to_vector(
      op->getResults(), [&](Value result) { return getCotangent(result); });
  SmallVector<bool> wanted = activity.wantedOperands(op);
  if (!llvm::any_of(of, [](Value value) { return bool(value); }) ||
      !llvm::is_contained(wanted, true))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitError()
           << "expects an op with a gradient between a trained parameter and "
              "the loss, got '"
           << op->getName() << "'";
  for (auto [index, cotangent] : llvm::enumerate(of))
    if (cotangent && !differentiable.isDifferentiableResult(index))
      return op->emitError()
             << "expects no gradient through result " << index << " of '"
             << op->getName() << "', which only its own gradient reads";
  SmallVector<Value> gradients(op->getNumOperands());
  if (failed(differentiable.buildGradient(builder, of, wanted, gradients)))
    return failure();
  // Operands too are uses in order: the last one comes first.
  for (unsigned i = op->getNumOperands(); i-- > 0;)
    if (wanted[i] && gradients[i])
      add(op->getOperand(i), gradients[i], op);
  return success();
}
