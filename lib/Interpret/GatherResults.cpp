//===- GatherResults.cpp - What the ranks of a step hold at its end -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramRunner.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// Adds the accumulators over the owners, in ascending order of owner.
void ProgramRunner::gatherGradients(StepResult &result) {
  for (VirtualRank &rank : virtualRanks)
    for (const auto &[alias, gradient] :
         rank.memory->step(BindingKind::Gradient)) {
      auto [entry, first] = result.aliasGradients.try_emplace(alias, gradient);
      if (!first)
        entry->second = sum(entry->second, gradient);
    }
  result.gradients = sumAliases(module, result.aliasGradients);
}

void ProgramRunner::gatherScalars(StepResult &result) {
  for (VirtualRank &rank : virtualRanks) {
    for (const auto &[term, loss] : rank.memory->step(BindingKind::Loss))
      result.loss += loss.number(0);
    const TensorMap &metrics = rank.memory->step(BindingKind::Metric);
    if (auto norm = metrics.find("grad_norm"); norm != metrics.end())
      result.gradientNorm = norm->second.number(0);
  }
}

void ProgramRunner::gatherOutputs(StepResult &result) {
  std::map<std::string, std::vector<Tensor>> parts;
  for (int64_t rdp = 0; rdp < options.owners; ++rdp)
    for (int64_t m = 0; m < options.microbatches(); ++m)
      for (VirtualRank &rank : virtualRanks) {
        if (rank.coordinate.rdp != rdp)
          continue;
        std::string prefix = std::to_string(m) + "/";
        for (const auto &[key, value] : rank.memory->step(BindingKind::Output))
          if (StringRef name = key; name.consume_front(prefix))
            parts[name.str()].push_back(value.rank() ? value
                                                     : value.reshaped({1}));
      }
  for (auto &[name, values] : parts)
    result.outputs[name] = concatenate(values);
}

/// Takes over the updated parameters and changed states, on which all holders
/// must agree.
LogicalResult ProgramRunner::gatherModel() {
  std::map<std::string, const VirtualRank *> holders;
  auto take = [&](const VirtualRank &rank, StringRef what,
                  const std::string &name, const Tensor &value,
                  TensorMap &values) -> LogicalResult {
    auto [holder, first] = holders.try_emplace(name, &rank);
    if (first)
      values[name] = value;
    else if (!identical(values[name], value))
      return module.emitError("expects ranks ")
             << grid->rank(holder->second->coordinate) << " and "
             << grid->rank(rank.coordinate) << " to agree on " << what << " '"
             << name << "' after the update, got different values";
    return success();
  };
  for (VirtualRank &rank : virtualRanks) {
    const TensorMap &parameters = rank.memory->heldParameters();
    for (const std::string &name : rank.memory->updatedParameters())
      if (failed(take(rank, "parameter", name, parameters.find(name)->second,
                      model.parameters)))
        return failure();
    for (const auto &[name, value] : rank.memory->changedStates())
      if (failed(take(rank, "state", name, value, model.states)))
        return failure();
    for (const auto &[name, value] : rank.memory->updatedOptimizer())
      model.optimizer[name] = value;
  }
  return success();
}
