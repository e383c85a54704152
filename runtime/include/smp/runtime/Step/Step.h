//===- Step.h - Counters and rates of a step --------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_STEP_STEP_H
#define SMP_RUNTIME_STEP_STEP_H

#include "smp/Support/Config.h"
#include "smp/Support/Grid.h"
#include "smp/Support/StepState.h"
#include <optional>

namespace smp::runtime {

/// The learning rate of step `step` (from 0). Warm-up rises linearly to `base`
/// and reaches it at step warmupSteps − 1; cosine and linear then fall to
/// minLr at totalSteps and stay there.
double learningRate(const RateConfig &schedule, double base, int64_t totalSteps,
                    int64_t step);

/// What does not change from step to step.
struct StepContext {
  uint64_t seed = 0;
  OptimizerConfig optimizer;
  RateConfig rates;
  int64_t totalSteps = 0; ///< of the rate schedule, or of the run
  double lossScale = 1;
  int64_t owners = 1, owner = 0;
  int64_t accumulation = 1, microbatches = 1, rows = 1;
  Coordinate coordinate;
  /// Steps so far that made no update: rates and corrections count updates.
  int64_t skipped = 0;

  int64_t samplesPerStep() const {
    return owners * accumulation * microbatches * rows;
  }
  /// Position within a step of the first row of a microbatch (a·M + m).
  int64_t rowOffset(int64_t microbatch) const {
    return (owner * accumulation * microbatches + microbatch) * rows;
  }
  /// Where the step's first sample has position `position`.
  StepState state(int64_t step, int64_t position, int64_t microbatch) const;
  double learningRateOf(int64_t step) const;
};

/// An error, naming the step, if the loss or the norm is no finite number.
Status checkFinite(int64_t step, double loss,
                   std::optional<double> gradientNorm = std::nullopt);

} // namespace smp::runtime

#endif // SMP_RUNTIME_STEP_STEP_H
