//===- OpGroups.cpp - What a partition keeps together ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpGroups.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

class Collector {
public:
  Collector(func::FuncOp graph, CloneableValues &cloneable)
      : block(graph.getBody().front()), cloneable(cloneable) {}

  OpGroups run();

private:
  void groupByPath();
  void moveToParameters();
  /// The first group that has all parameters that `op` is computed of, if it
  /// reads nothing else.
  std::optional<int> firstGroupOf(Operation &op);
  OpGroups withoutEmptyGroups();

  Block &block;
  CloneableValues &cloneable;
  std::vector<std::string> paths;
  DenseMap<Operation *, int> groupOf;
  /// Of parameters, and of what is computed of them alone.
  DenseMap<Value, int> home;
  /// Shares of a batch, and what they scale: no chunk but the loss's has them.
  DenseSet<Value> shares;
};

} // namespace

void Collector::groupByPath() {
  for (Operation &op : block.without_terminator()) {
    bool follows = isa<GetParameterOp>(op) ||
                   (op.getNumResults() > 0 &&
                    llvm::all_of(op.getResults(), [&](Value result) {
                      return cloneable.isCloneable(result);
                    }));
    if (follows)
      continue;
    std::string path;
    if (auto model = dyn_cast<ModelOpInterface>(op))
      path = model.getScope().str();
    if (paths.empty() || paths.back() != path)
      paths.push_back(path);
    groupOf[&op] = paths.size() - 1;
  }
}

std::optional<int> Collector::firstGroupOf(Operation &op) {
  std::optional<int> first;
  for (Value operand : op.getOperands()) {
    auto known = home.find(operand);
    if (known != home.end())
      first = std::max(first.value_or(0), known->second);
    else if (shares.contains(operand) || !cloneable.isConstant(operand))
      return std::nullopt;
  }
  return isPure(&op) ? first : std::nullopt;
}

void Collector::moveToParameters() {
  for (Operation &op : block.without_terminator()) {
    if (isa<MeanLossOp>(op) || llvm::any_of(op.getOperands(), [&](Value v) {
          return shares.contains(v);
        }))
      shares.insert(op.result_begin(), op.result_end());
    if (isa<GetParameterOp>(op)) {
      for (Operation *user : op.getUsers())
        if (auto group = groupOf.find(user); group != groupOf.end()) {
          auto [known, isNew] =
              home.try_emplace(op.getResult(0), group->second);
          known->second = std::min(known->second, group->second);
        }
      continue;
    }
    auto group = groupOf.find(&op);
    if (group == groupOf.end())
      continue;
    if (std::optional<int> first = firstGroupOf(op)) {
      group->second = *first;
      for (Value result : op.getResults())
        home[result] = *first;
    }
  }
}

OpGroups Collector::withoutEmptyGroups() {
  std::vector<OpGroup> all;
  for (const std::string &path : paths)
    all.push_back({path, {}});
  for (Operation &op : block.without_terminator())
    if (auto group = groupOf.find(&op); group != groupOf.end())
      all[group->second].ops.push_back(&op);
  OpGroups result;
  for (OpGroup &group : all) {
    if (group.ops.empty())
      continue;
    for (Operation *op : group.ops)
      result.groupOf[op] = result.groups.size();
    result.groups.push_back(std::move(group));
  }
  return result;
}

OpGroups Collector::run() {
  groupByPath();
  moveToParameters();
  return withoutEmptyGroups();
}

OpGroups OpGroups::collect(func::FuncOp graph, CloneableValues &cloneable) {
  return Collector(graph, cloneable).run();
}
