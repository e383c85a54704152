//===- SavedValues.cpp - What a backward pass keeps -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Autodiff/SavedValues.h"

#include "Activity.h"
#include "Parameters.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// Activations live only as long as their chunk's forward and the transfer; a
/// state that the function changes has another value by then.
static bool isFreeArgument(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return false;
  auto binding = function.getArgAttrOfType<BindingAttr>(argument.getArgNumber(),
                                                        kBindingAttr);
  if (!binding)
    return true;
  if (binding.getKind() == BindingKind::State)
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttrOfType<BindingAttr>(i, kBindingAttr) == binding)
        return false;
  return binding.getKind() != BindingKind::Activation;
}

/// The same bytes under another type.
static bool isView(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && op->getNumOperands() == 1 && cost.getBytes() == 0;
}

/// Moves of elements and integer arithmetic: cheaper to repeat than to keep.
static bool isCheap(Operation *op) {
  if (op->getNumOperands() == 0)
    return true;
  auto cost = dyn_cast<CostOpInterface>(op);
  bool integer = llvm::none_of(op->getResultTypes(), isDifferentiableType);
  return cost && (integer || cost.getFlops() == 0);
}

bool RecomputePolicy::isFree(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isFreeArgument(argument);
  auto known = free.find(value);
  if (known != free.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  bool result = isPure(op) && isCheap(op) &&
                llvm::all_of(op->getOperands(),
                             [&](Value operand) { return isFree(operand); });
  free[value] = result;
  return result;
}

bool RecomputePolicy::isRecomputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isFree(value) || isView(op));
}

void RecomputePolicy::appendKept(Value value, SmallVectorImpl<Value> &kept) {
  if (isFree(value))
    return;
  if (isRecomputed(value))
    return appendKept(value.getDefiningOp()->getOperand(0), kept);
  kept.push_back(value);
}

/// The ops that the results of the function depend on through active values:
/// the ones that get a cotangent.
static llvm::DenseSet<Operation *> collectReached(Block &block,
                                                  const Activity &activity) {
  llvm::DenseSet<Operation *> reached;
  for (Operation &op : llvm::reverse(block)) {
    bool isReached = op.hasTrait<OpTrait::IsTerminator>() ||
                     llvm::any_of(op.getUsers(), [&](Operation *user) {
                       return reached.contains(user);
                     });
    if (isReached && llvm::is_contained(activity.wantedOperands(&op), true))
      reached.insert(&op);
  }
  return reached;
}

void smp::forEachSavedValue(
    func::FuncOp function, llvm::function_ref<void(Operation *, Value)> visit) {
  Block &block = function.getBody().front();
  ParameterTable parameters(function->getParentOfType<ModuleOp>());
  Activity activity;
  function.walk([&](GetParameterOp op) {
    if (parameters.isTrained(op.getAlias()))
      activity.addRoot(op);
  });
  activity.propagate(block);
  llvm::DenseSet<Operation *> reached = collectReached(block, activity);

  RecomputePolicy policy;
  llvm::DenseSet<Value> seen;
  for (Operation &op : block) {
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable || !reached.contains(&op))
      continue;
    SmallVector<Value> read, kept;
    differentiable.getSavedValues(activity.wantedOperands(&op), read);
    for (Value value : read)
      policy.appendKept(value, kept);
    for (Value value : kept)
      if (seen.insert(value).second)
        visit(&op, value);
  }
}
