//===- Gradient.cpp - Reverse differentiation inside a function -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Gradient.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

Value interpret::fillLike(OpBuilder &builder, Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(DimOp::create(builder, like.getLoc(),
                                    builder.getIndexType(), like,
                                    builder.getI64IntegerAttr(dim)));
  return FillOp::create(builder, like.getLoc(), type,
                        builder.getF64FloatAttr(value), sizes,
                        builder.getStringAttr(""));
}

namespace {

/// The state of one reverse sweep.
class ReverseSweep {
public:
  ReverseSweep(func::FuncOp function, ArrayRef<Value> targets)
      : builder(function.getBody().front().getTerminator()),
        reached(targets.begin(), targets.end()) {
    for (Operation &op : function.getBody().front())
      reach(&op);
  }

  void seed(Value output, Value cotangent) { accumulate(output, cotangent); }
  LogicalResult visit(Operation *op);
  Value gradientOf(Value value) const { return cotangents.lookup(value); }

private:
  static bool carriesGradients(Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value.getType()));
  }
  void reach(Operation *op);
  void accumulate(Value value, Value cotangent);

  OpBuilder builder;
  /// Values that depend on a target.
  llvm::DenseSet<Value> reached;
  llvm::DenseMap<Value, Value> cotangents;
};

} // namespace

void ReverseSweep::reach(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return reached.contains(operand); }))
    return;
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  for (OpResult result : op->getResults())
    if (carriesGradients(result) &&
        (!differentiable ||
         differentiable.isDifferentiableResult(result.getResultNumber())))
      reached.insert(result);
}

void ReverseSweep::accumulate(Value value, Value cotangent) {
  Value &sum = cotangents[value];
  sum = sum ? AddOp::create(builder, cotangent.getLoc(), sum, cotangent)
            : cotangent;
}

LogicalResult ReverseSweep::visit(Operation *op) {
  SmallVector<Value> given;
  for (OpResult result : op->getResults())
    given.push_back(cotangents.lookup(result));
  if (llvm::none_of(given, [](Value value) { return bool(value); }))
    return success();
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(reached.contains(operand) && carriesGradients(operand));
  if (!llvm::is_contained(wanted, true))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("expects an op with a gradient, since a gradient "
                           "flows through it, got none");
  SmallVector<Value> gradients(op->getNumOperands());
  if (failed(differentiable.buildGradient(builder, given, wanted, gradients)))
    return failure();
  // The last use first, also within one op.
  for (size_t index = op->getNumOperands(); index-- > 0;)
    if (wanted[index] && gradients[index])
      accumulate(op->getOperand(index), gradients[index]);
  return success();
}

FailureOr<SmallVector<Value>>
interpret::buildGradients(func::FuncOp function, ArrayRef<Value> outputs,
                          ArrayRef<Value> cotangents, ArrayRef<Value> targets) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    ops.push_back(&op);
  ReverseSweep sweep(function, targets);
  for (auto [output, cotangent] : llvm::zip_equal(outputs, cotangents))
    sweep.seed(output, cotangent);
  for (Operation *op : llvm::reverse(ops))
    if (failed(sweep.visit(op)))
      return failure();
  SmallVector<Value> gradients;
  for (Value target : targets)
    gradients.push_back(sweep.gradientOf(target));
  return gradients;
}
