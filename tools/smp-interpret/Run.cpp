//===- Run.cpp - What smp-interpret runs ----------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "smp/Interpret/Forward.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// The rows of one step: all of them, or the step's part of those of all steps.
static TensorMap batchOf(const TensorMap &inputs, unsigned step, unsigned steps,
                         bool ofAllSteps) {
  if (!ofAllSteps)
    return inputs;
  TensorMap batch;
  for (const auto &[name, tensor] : inputs) {
    int64_t rows = tensor.dim(0) / steps;
    batch[name] = tensor.slice(step * rows, (step + 1) * rows);
  }
  return batch;
}

/// Whether the inputs hold more rows than one step of a module whose rows are
/// fixed, or, where they are not, as many as the steps divide.
static FailureOr<bool> holdAllSteps(ModuleOp module, const TensorMap &inputs,
                                    const RunOptions &options) {
  int64_t rows = 0, steps = options.steps;
  for (const auto &[name, tensor] : inputs)
    rows = tensor.rank() ? std::max(rows, tensor.dim(0)) : rows;
  int64_t shares = options.step.owners * options.step.microbatches();
  if (auto fixed = module->getAttrOfType<IntegerAttr>("smp.rows")) {
    int64_t perStep = fixed.getInt() * shares;
    if (rows != perStep && rows != perStep * steps)
      return module.emitError("expects inputs of ")
             << perStep << " rows, or " << perStep * steps << " for " << steps
             << " steps, got " << rows;
    return rows != perStep;
  }
  return steps > 1 && rows % (shares * steps) == 0;
}

static FailureOr<TensorMap> train(ModuleOp module, ModelState model,
                                  const TensorMap &inputs,
                                  const RunOptions &options) {
  auto runner = createStepRunner(module, std::move(model), options.step);
  FailureOr<bool> all = holdAllSteps(module, inputs, options);
  if (failed(runner) || failed(all))
    return failure();
  TensorMap results;
  std::vector<double> losses, norms;
  for (unsigned step = 0; step < options.steps; ++step) {
    StepResult result;
    if (failed((*runner)->run(step, batchOf(inputs, step, options.steps, *all),
                              result)))
      return failure();
    losses.push_back(result.loss);
    norms.push_back(result.gradientNorm.value_or(0));
    if (options.gradients)
      for (auto &[name, gradient] : result.gradients)
        results["grad/" + name] = gradient;
  }
  int64_t count = options.steps;
  results["losses"] = Tensor(DataType::F64, {count}, losses);
  results["norms"] = Tensor(DataType::F64, {count}, norms);
  for (const auto &[name, tensor] : (*runner)->state().parameters)
    results["params/" + name] = tensor;
  for (const auto &[name, tensor] : (*runner)->state().optimizer)
    results["optimizer/" + name] = tensor;
  for (const auto &[name, tensor] : (*runner)->state().states)
    results["states/" + name] = tensor;
  return results;
}

static FailureOr<TensorMap> differentiateOnce(ModuleOp module, ModelState model,
                                              const TensorMap &inputs,
                                              const RunOptions &options) {
  auto runner = createStepRunner(module, std::move(model), options.step);
  StepResult result;
  if (failed(runner) || failed((*runner)->run(0, inputs, result)))
    return failure();
  TensorMap results = std::move(result.outputs);
  results["loss"] = Tensor::scalar(DataType::F64, result.loss);
  if (result.gradientNorm)
    results["norm"] = Tensor::scalar(DataType::F64, *result.gradientNorm);
  for (auto &[name, gradient] : result.gradients)
    results["grad/" + name] = gradient;
  return results;
}

FailureOr<TensorMap> interpret::runModule(ModuleOp module, ModelState model,
                                          const TensorMap &inputs,
                                          const RunOptions &options) {
  if (options.steps > 0)
    return train(module, std::move(model), inputs, options);
  bool programs = !module.getOps<RankOp>().empty();
  if (options.graph == Graph::Train && (options.gradients || programs))
    return differentiateOnce(module, std::move(model), inputs, options);
  StringRef names[] = {"train", "eval", "predict"};
  ForwardOptions forward = {options.step.precision, options.step.config.seed};
  return runForward(module, names[static_cast<int>(options.graph)], model,
                    inputs, forward);
}
