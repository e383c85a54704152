//===- StepTest.cpp - Counters and rates of a step ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Step/Step.h"
#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace smp;
using namespace smp::runtime;

TEST(Step, Rates) {
  RateConfig constant{RateSchedule::Constant, 0, {}, 0};
  EXPECT_EQ(learningRate(constant, 0.5, 10, 99), 0.5);
  RateConfig cosine{RateSchedule::Cosine, 4, {}, 0.1};
  EXPECT_DOUBLE_EQ(learningRate(cosine, 1, 14, 0), 0.25);
  EXPECT_DOUBLE_EQ(learningRate(cosine, 1, 14, 3), 1);
  EXPECT_DOUBLE_EQ(learningRate(cosine, 1, 14, 4), 1);
  EXPECT_DOUBLE_EQ(learningRate(cosine, 1, 14, 9), 0.55);
  EXPECT_DOUBLE_EQ(learningRate(cosine, 1, 14, 14), 0.1);
  EXPECT_DOUBLE_EQ(learningRate(cosine, 1, 14, 1000), 0.1);
  RateConfig linear{RateSchedule::Linear, 2, {}, 0};
  EXPECT_DOUBLE_EQ(learningRate(linear, 1, 12, 1), 1);
  EXPECT_DOUBLE_EQ(learningRate(linear, 1, 12, 7), 0.5);
  EXPECT_DOUBLE_EQ(learningRate(linear, 1, 12, 12), 0);
  // A run shorter than the warm-up.
  EXPECT_DOUBLE_EQ(learningRate(linear, 1, 1, 5), 0);
}

static StepContext context() {
  StepContext context;
  context.seed = 9;
  context.owners = 2;
  context.accumulation = 3;
  context.microbatches = 4;
  context.rows = 5;
  context.coordinate = {1, 0, 1};
  return context;
}

TEST(Step, State) {
  StepContext step = context();
  step.owner = 1;
  StepState state = step.state(2, 300, 7);
  EXPECT_EQ(state.seed, 9u);
  EXPECT_EQ(state.step, 2);
  EXPECT_EQ(state.microbatch, 7);
  EXPECT_EQ(state.sampleOffset, 300 + (1 * 12 + 7) * 5);
  EXPECT_EQ(state.axis[0], 1);
  EXPECT_EQ(state.axis[2], 1);
  EXPECT_DOUBLE_EQ(state.biasCorrection1, 1 - std::pow(0.9, 3));
  EXPECT_DOUBLE_EQ(state.biasCorrection2, 1 - std::pow(0.999, 3));
  EXPECT_EQ(state.learningRate, 1e-3);
  EXPECT_EQ(state.lossScale, 1);
  EXPECT_EQ(state.skip, 0);
  // A step that made no update counts in neither.
  step.skipped = 2;
  EXPECT_DOUBLE_EQ(step.state(2, 300, 7).biasCorrection1, 1 - 0.9);
}

/// Owners and microbatches cover the samples of all steps, each once.
TEST(Step, SamplesAreCoveredOnce) {
  std::set<int64_t> seen;
  StepContext step = context();
  for (int64_t s = 0; s < 3; ++s)
    for (step.owner = 0; step.owner < step.owners; ++step.owner)
      for (int64_t m = 0; m < step.accumulation * step.microbatches; ++m)
        for (int64_t row = 0; row < step.rows; ++row)
          EXPECT_TRUE(
              seen.insert(s * step.samplesPerStep() + step.rowOffset(m) + row)
                  .second);
  EXPECT_EQ(static_cast<int64_t>(seen.size()), 3 * step.samplesPerStep());
  EXPECT_EQ(*seen.rbegin(), 3 * step.samplesPerStep() - 1);
}

TEST(Step, NumbersThatAreNone) {
  EXPECT_TRUE(checkFinite(1, 2.0));
  EXPECT_TRUE(checkFinite(1, 2.0, 3.0));
  Status loss = checkFinite(12, std::nan(""));
  ASSERT_FALSE(loss);
  EXPECT_EQ(loss.error().message, "step 12 expects a finite loss, got nan");
  Status norm = checkFinite(3, 1.0, -HUGE_VAL);
  ASSERT_FALSE(norm);
  EXPECT_EQ(norm.error().message,
            "step 3 expects a finite gradient norm, got -inf");
}
