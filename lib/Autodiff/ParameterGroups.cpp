//===- ParameterGroups.cpp - Parameters with settings of their own --------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Autodiff/ParameterGroups.h"

#include "smp/IR/SmpDialect.h"

using namespace mlir;
using namespace smp;

static std::vector<std::string> namesOf(ParameterOp parameter) {
  std::vector<std::string> names = {parameter.getSymName().str()};
  for (auto alias : parameter.getAliases().getAsRange<StringAttr>())
    names.push_back(alias.str());
  return names;
}

static void apply(ParameterOp parameter, const OptimizerGroup &group) {
  Builder builder(parameter.getContext());
  if (group.frozen)
    parameter.setFrozen(true);
  if (group.lrScale)
    parameter->setAttr(kRateScaleAttr, builder.getF64FloatAttr(*group.lrScale));
  if (group.weightDecay)
    parameter->setAttr(kWeightDecayAttr,
                       builder.getF64FloatAttr(*group.weightDecay));
}

LogicalResult smp::applyParameterGroups(ModuleOp module,
                                        const OptimizerConfig &optimizer) {
  SmallVector<int64_t> matches(optimizer.groups.size());
  for (auto parameter : module.getOps<ParameterOp>()) {
    std::vector<std::string> names = namesOf(parameter);
    for (auto [group, count] : llvm::zip_equal(optimizer.groups, matches))
      count += matchesAny(group, names);
    if (const OptimizerGroup *group = groupOf(optimizer, names))
      apply(parameter, *group);
  }
  for (auto [index, count] : llvm::enumerate(matches))
    if (count == 0) {
      InFlightDiagnostic diagnostic =
          module.emitError("expects 'optimizer.groups[")
          << index << "].match' to match a parameter's name, got '"
          << optimizer.groups[index].match << "', which matches none";
      if (auto parameters = module.getOps<ParameterOp>(); !parameters.empty())
        diagnostic.attachNote()
            << "a name is '" << (*parameters.begin()).getSymName()
            << "'; the expression may match any part of it";
      return diagnostic;
    }
  return success();
}
