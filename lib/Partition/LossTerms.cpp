//===- LossTerms.cpp - What a loss is the weighted sum of ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossTerms.h"

#include "CloneableValues.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

class LossTerms {
public:
  explicit LossTerms(func::FuncOp graph);

  LogicalResult visit(Value value);
  SmallVector<LossTerm> found;

private:
  bool addMean(OpResult value);
  bool addSum(OpResult value);

  llvm::DenseSet<Value> visited;
  /// What samples decide, and the means, some of which none does.
  llvm::DenseSet<Value> dependent;
};

} // namespace

LossTerms::LossTerms(func::FuncOp graph) {
  for (Value argument : graph.getArguments())
    dependent.insert(argument);
  for (Operation &op : graph.getBody().front())
    if (isa<MeanLossOp>(op) || llvm::any_of(op.getOperands(), [&](Value v) {
          return dependent.contains(v);
        }))
      dependent.insert(op.result_begin(), op.result_end());
}

bool LossTerms::addMean(OpResult value) {
  auto mean = dyn_cast<MeanLossOp>(value.getOwner());
  if (!mean)
    return false;
  found.push_back({mean.getTerm().str(), mean, mean.getSum(), mean.getCount(),
                   CloneableValues().isCloneable(mean.getSum())});
  return true;
}

/// A sum over everything. The gradient of the sum of a cross-entropy is its
/// first result's.
bool LossTerms::addSum(OpResult value) {
  Operation *op = value.getOwner();
  auto sum = dyn_cast<ReduceSumOp>(op);
  bool whole = sum && sum.getType().getRank() == 0 &&
               sum.getOperand().getType().getRank() > 0;
  if (!whole && !isa<CrossEntropyOp>(op))
    return false;
  found.push_back({"sum_" + std::to_string(found.size()), value, value, {}});
  return true;
}

LogicalResult LossTerms::visit(Value value) {
  if (!dependent.contains(value) || !visited.insert(value).second)
    return success();
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return failure(); // a sample's number
  if (addMean(result) || addSum(result))
    return success();
  for (Value operand : result.getOwner()->getOperands())
    if (failed(visit(operand)))
      return failure();
  return success();
}

SmallVector<Value> smp::lossesOf(func::FuncOp graph) {
  SmallVector<Value> losses;
  Operation *terminator = graph.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    if (auto role = graph.getResultAttrOfType<StringAttr>(index, kRoleAttr);
        role && role == "loss")
      losses.push_back(value);
  return losses;
}

FailureOr<SmallVector<LossTerm>> smp::findLossTerms(func::FuncOp graph) {
  LossTerms terms(graph);
  for (Value loss : lossesOf(graph))
    if (failed(terms.visit(loss)))
      return failure();
  return std::move(terms.found);
}
