//===- Update.cpp - The reference of the optimizer's update ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimizer.h"
#include "Steps.h"
#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

TensorMap interpret::sumAliases(ModuleOp module,
                                const TensorMap &aliasGradients) {
  auto canonical = canonicalNames(module);
  TensorMap gradients;
  for (const auto &[alias, gradient] : aliasGradients) {
    auto [entry, first] =
        gradients.try_emplace(canonical.find(alias)->second, gradient);
    if (!first)
      entry->second = sum(entry->second, gradient);
  }
  return gradients;
}

std::vector<std::string> interpret::allNames(ParameterOp parameter) {
  std::vector<std::string> names = {parameter.getSymName().str()};
  for (auto alias : parameter.getAliases().getAsRange<StringAttr>())
    names.push_back(alias.str());
  return names;
}

/// The moment of a parameter, zero before the first step.
static Tensor &momentOf(ModelState &model, const std::string &parameter,
                        const char *state) {
  const Tensor &like = model.parameters[parameter];
  return model.optimizer
      .try_emplace(parameter + "/" + state, Tensor(like.type(), like.shape()))
      .first->second;
}

static void updateParameter(const std::string &name, const Tensor &gradient,
                            const OptimizerConfig &optimizer,
                            const OptimizerGroup *group, const StepState &step,
                            double scale, ModelState &model) {
  Tensor &parameter = model.parameters[name];
  double rate = step.learningRate, decay = optimizer.weightDecay;
  if (group) {
    rate *= group->lrScale.value_or(1);
    decay = group->weightDecay.value_or(decay);
  }
  if (optimizer.kind == OptimizerKind::SGD) {
    SgdSettings settings = {rate, optimizer.momentum, decay, scale};
    Tensor none(parameter.type(), parameter.shape());
    Tensor &buffer = optimizer.momentum == 0
                         ? none
                         : momentOf(model, name, "momentum_buffer");
    return sgdStep(settings, gradient, parameter, buffer);
  }
  bool coupled = optimizer.kind == OptimizerKind::Adam;
  AdamWSettings settings = {rate,
                            step.biasCorrection1,
                            step.biasCorrection2,
                            optimizer.beta1,
                            optimizer.beta2,
                            optimizer.eps,
                            decay,
                            coupled,
                            scale};
  adamWStep(settings, gradient, parameter, momentOf(model, name, "exp_avg"),
            momentOf(model, name, "exp_avg_sq"));
}

double interpret::applyUpdate(ModuleOp module, const TensorMap &gradients,
                              const StepOptions &options, const StepState &step,
                              ModelState &model) {
  double squares = 0;
  for (auto parameter : module.getOps<ParameterOp>())
    if (auto entry = gradients.find(std::string_view(parameter.getSymName()));
        entry != gradients.end())
      squares += sumOfSquares(entry->second);
  // What is not finite would spoil the parameters for good.
  if (!std::isfinite(squares))
    return std::sqrt(squares);
  double scale = options.config.gradientClipping
                     ? clipFactor(squares, *options.config.gradientClipping)
                     : 1;
  const OptimizerConfig &optimizer = options.config.optimizer;
  for (auto parameter : module.getOps<ParameterOp>()) {
    std::vector<std::string> names = allNames(parameter);
    if (auto entry = gradients.find(names.front()); entry != gradients.end())
      updateParameter(names.front(), entry->second, optimizer,
                      groupOf(optimizer, names), step, scale, model);
  }
  if (options.precision == Precision::Native) {
    for (auto &[name, tensor] : model.parameters)
      tensor.roundToType();
    for (auto &[name, tensor] : model.optimizer)
      tensor.roundToType();
  }
  return std::sqrt(squares);
}
