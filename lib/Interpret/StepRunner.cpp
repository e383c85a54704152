//===- StepRunner.cpp - Training steps of a module of any phase -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/StepRunner.h"
#include "Steps.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

StepRunner::StepRunner(ModuleOp module, ModelState model, StepOptions options)
    : module(module), model(std::move(model)), options(std::move(options)) {}

LogicalResult StepRunner::checkBatch(const TensorMap &batch) {
  std::optional<int64_t> count;
  for (const std::string &name : inputNames()) {
    auto entry = batch.find(name);
    if (entry == batch.end())
      return module.emitError("expects input '") << name << "', got none";
    if (entry->second.rank() == 0)
      return module.emitError("expects input '")
             << name << "' with rows of samples, got a scalar";
    if (!count)
      count = entry->second.dim(0);
    if (entry->second.dim(0) != *count)
      return module.emitError("expects inputs of equally many rows, got ")
             << *count << " and, of '" << name << "', " << entry->second.dim(0);
  }
  int64_t shares = options.owners * options.microbatches();
  if (!count || *count == 0 || *count % shares != 0)
    return module.emitError("expects a number of rows that ")
           << options.owners << " owners of " << options.microbatches()
           << " microbatches divide, got " << count.value_or(0);
  rows = *count / shares;
  return success();
}

LogicalResult StepRunner::run(int64_t step, const TensorMap &batch,
                              StepResult &result) {
  // Every row counts, unless the weights say otherwise.
  TensorMap weighted = batch;
  if (!batch.empty() && llvm::is_contained(inputNames(), kRowWeight) &&
      batch.begin()->second.rank() > 0)
    weighted.try_emplace(
        kRowWeight.str(),
        Tensor::filled(DataType::F32, {batch.begin()->second.dim(0)}, 1));
  if (failed(checkBatch(weighted)))
    return failure();
  return runStep(step, weighted, result);
}

/// Warm-up rises linearly to the configured rate, which step warmup - 1 has;
/// then it stays, or falls to the minimum at the last step.
static double learningRate(const RateConfig &rates, double base,
                           int64_t totalSteps, int64_t step) {
  if (step < rates.warmupSteps)
    return base * (step + 1) / rates.warmupSteps;
  if (rates.kind == RateSchedule::Constant)
    return base;
  double length = std::max<int64_t>(1, totalSteps - rates.warmupSteps);
  double part = std::min(1.0, (step - rates.warmupSteps) / length);
  double left = rates.kind == RateSchedule::Linear
                    ? 1 - part
                    : (1 + std::cos(std::numbers::pi * part)) / 2;
  return rates.minLr + (base - rates.minLr) * left;
}

Context StepRunner::contextOf(int64_t step, int64_t owner, int64_t microbatch,
                              Coordinate coordinate) const {
  const Config &config = options.config;
  int64_t total = config.lrSchedule.totalSteps.value_or(options.totalSteps);
  int64_t perOwner = options.microbatches() * rows;
  Context context{options.precision, {}, &model.parameters, &model.states};
  context.step = {
      .seed = config.seed,
      .step = step,
      .microbatch = microbatch,
      .sampleOffset =
          (step * options.owners + owner) * perOwner + microbatch * rows,
      .axis = {coordinate.pp, coordinate.tp, coordinate.rdp},
      .learningRate =
          learningRate(config.lrSchedule, config.optimizer.lr, total, step),
      .biasCorrection1 = 1 - std::pow(config.optimizer.beta1, step + 1),
      .biasCorrection2 = 1 - std::pow(config.optimizer.beta2, step + 1),
      .lossScale = 1,
      .skip = 0};
  return context;
}

Tensor StepRunner::shareOf(const Tensor &input, int64_t owner,
                           int64_t microbatch) const {
  int64_t begin = (owner * options.microbatches() + microbatch) * rows;
  return input.slice(begin, begin + rows);
}

FailureOr<std::unique_ptr<StepRunner>>
interpret::createStepRunner(ModuleOp module, ModelState model,
                            StepOptions options) {
  if (!module.getOps<RankOp>().empty())
    return createProgramRunner(module, std::move(model), std::move(options));
  if (module.getOps<ChunkOp>().empty())
    return createWholeRunner(module, std::move(model), std::move(options));
  auto joined = joinChunks(module, "train");
  if (failed(joined))
    return failure();
  return createWholeRunner(**joined, std::move(model), std::move(options));
}
