//===- StepRunnerTest.cpp - Steps mean the same however they are cut ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/StepRunner.h"
#include "TestContext.h"
#include "mlir/IR/Verifier.h"
#include "smp/Interpret/RandomGraph.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

struct Outcome {
  std::vector<StepResult> steps;
  ModelState state;
};

/// Trains on the same rows each step.
static Outcome train(const RandomModel &model, const TensorMap &batch,
                     StepOptions options, int64_t steps = 2) {
  Outcome outcome;
  options.totalSteps = steps;
  options.precision = Precision::F64;
  auto weights = loadWeights(*model.module, WeightSource{});
  EXPECT_TRUE(bool(weights));
  auto runner = createStepRunner(*model.module, *weights, options);
  EXPECT_TRUE(succeeded(runner));
  if (failed(runner))
    return outcome;
  for (int64_t step = 0; step < steps; ++step)
    EXPECT_TRUE(
        succeeded((*runner)->run(step, batch, outcome.steps.emplace_back())));
  outcome.state = (*runner)->state();
  return outcome;
}

static void expectEqual(const Outcome &a, const Outcome &b, double tolerance) {
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t step = 0; step < a.steps.size(); ++step) {
    EXPECT_NEAR(a.steps[step].loss, b.steps[step].loss,
                tolerance * std::abs(b.steps[step].loss));
    EXPECT_LE(relativeDifference(a.steps[step].outputs.at("logits"),
                                 b.steps[step].outputs.at("logits")),
              tolerance);
  }
  for (const auto &[name, parameter] : b.state.parameters)
    EXPECT_LE(relativeDifference(a.state.parameters.at(name), parameter),
              tolerance)
        << name;
}

static StepOptions sgd(int64_t owners, int64_t microbatches,
                       int64_t accumulation = 1) {
  StepOptions options;
  options.owners = owners;
  options.config.microbatches = microbatches;
  options.config.gradientAccumulation = accumulation;
  options.config.optimizer.kind = OptimizerKind::SGD;
  options.config.optimizer.lr = 0.1;
  options.config.optimizer.momentum = 0.9;
  options.config.optimizer.weightDecay = 0;
  options.config.gradientClipping = 1.0;
  return options;
}

TEST(RandomGraph, IsValidAndTheSameForASeed) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomModel model = buildRandomModel(testContext(), {.seed = seed});
    EXPECT_TRUE(succeeded(verify(*model.module))) << seed;
    std::string first, second;
    llvm::raw_string_ostream(first) << *model.module;
    llvm::raw_string_ostream(second)
        << *buildRandomModel(testContext(), {.seed = seed}).module;
    EXPECT_EQ(first, second);
  }
}

/// The rows that 12 samples are cut into change nothing.
TEST(StepRunner, MicrobatchesAndOwnersKeepTheMathematics) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    auto model = [&](int64_t rows) {
      return buildRandomModel(testContext(),
                              {.seed = seed, .rows = rows, .dropout = true});
    };
    RandomModel whole = model(12);
    TensorMap batch = randomBatch(whole, 12, seed);
    Outcome expected = train(whole, batch, sgd(1, 1));
    expectEqual(train(model(3), batch, sgd(2, 2)), expected, 1e-10);
    expectEqual(train(model(2), batch, sgd(1, 3, 2)), expected, 1e-10);
  }
}

TEST(StepRunner, MeanOfMeansDiffersFromStepWhereLabelsAreIgnored) {
  RandomModel model = buildRandomModel(testContext(), {.seed = 3, .rows = 2});
  TensorMap batch = randomBatch(model, 4, 1);
  batch["labels"].mutableInts()[0] = -100;
  batch["labels"].mutableInts()[1] = -100;
  StepOptions options = sgd(1, 2);
  double step = train(model, batch, options, 1).steps[0].loss;
  options.config.lossNormalization = LossNormalization::Microbatch;
  double means = train(model, batch, options, 1).steps[0].loss;
  options.config.lossNormalization = LossNormalization::Sum;
  double sums = train(model, batch, options, 1).steps[0].loss;
  EXPECT_NE(step, means);
  EXPECT_NEAR(sums, 2 * means, 1e-12);
}

TEST(StepRunner, RejectsRowsThatDoNotDivide) {
  RandomModel model = buildRandomModel(testContext(), {.seed = 1, .rows = 2});
  auto weights = loadWeights(*model.module, WeightSource{});
  auto runner = createStepRunner(*model.module, *weights, sgd(2, 2));
  ASSERT_TRUE(succeeded(runner));
  std::string message;
  ScopedDiagnosticHandler handler(testContext(), [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  StepResult result;
  EXPECT_TRUE(failed((*runner)->run(0, randomBatch(model, 7, 1), result)));
  EXPECT_EQ(message, "expects a number of rows that 2 owners of 2 microbatches "
                     "divide, got 7");
  TensorMap batch = randomBatch(model, 8, 1);
  batch.erase("labels");
  EXPECT_TRUE(failed((*runner)->run(0, batch, result)));
  EXPECT_EQ(message, "expects input 'labels', got none");
}
