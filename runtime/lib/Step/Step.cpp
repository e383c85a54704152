//===- Step.cpp - Counters and rates of a step ----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Step/Step.h"
#include "smp/Support/Json.h"
#include <algorithm>
#include <cmath>
#include <numbers>

using namespace smp;
using namespace smp::runtime;

double runtime::learningRate(const RateConfig &schedule, double base,
                             int64_t totalSteps, int64_t step) {
  int64_t warmup = schedule.warmupSteps;
  if (step < warmup)
    return base * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (schedule.kind == RateSchedule::Constant)
    return base;
  int64_t span = totalSteps - warmup;
  double done = span <= 0 ? 1.0
                          : std::min(1.0, static_cast<double>(step - warmup) /
                                              static_cast<double>(span));
  double left = schedule.kind == RateSchedule::Linear
                    ? 1 - done
                    : 0.5 * (1 + std::cos(std::numbers::pi * done));
  return schedule.minLr + (base - schedule.minLr) * left;
}

double StepContext::learningRateOf(int64_t step) const {
  return learningRate(rates, optimizer.lr, totalSteps, step - skipped);
}

StepState StepContext::state(int64_t step, int64_t position,
                             int64_t microbatch) const {
  auto updates = static_cast<double>(step - skipped + 1);
  StepState state = {};
  state.seed = seed;
  state.step = step;
  state.microbatch = microbatch;
  state.sampleOffset = position + rowOffset(microbatch);
  state.axis[0] = coordinate.pp;
  state.axis[1] = coordinate.tp;
  state.axis[2] = coordinate.rdp;
  state.learningRate = learningRateOf(step);
  state.biasCorrection1 = 1 - std::pow(optimizer.beta1, updates);
  state.biasCorrection2 = 1 - std::pow(optimizer.beta2, updates);
  state.lossScale = lossScale;
  return state;
}

Status runtime::checkFinite(int64_t step, double loss,
                            std::optional<double> gradientNorm) {
  auto wrong = [&](const char *what, double value) {
    return Error{
        std::string("step ") + std::to_string(step) + " expects a finite " +
            what + ", got " +
            (std::isnan(value) ? "nan"
             : value > 0       ? "inf"
                               : "-inf"),
        "try a smaller 'optimizer.lr', warm-up steps, or "
        "'gradient_clipping'; look for indices out of range, and for values in "
        "the data that are not finite; --on-nan=skip leaves such updates out"};
  };
  if (!std::isfinite(loss))
    return wrong("loss", loss);
  if (gradientNorm && !std::isfinite(*gradientNorm))
    return wrong("gradient norm", *gradientNorm);
  return {};
}
