//===- PhasesTest.cpp - Every phase means what specialize means -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random models through partition, stage, differentiate, distribute and
// schedule. After each phase two steps are run on virtual ranks in double
// precision and compared with those of the model as a whole.
//
//===----------------------------------------------------------------------===//

#include "TestContext.h"
#include "mlir/IR/Verifier.h"
#include "smp/Autodiff/Differentiate.h"
#include "smp/Autodiff/OptimizerSettings.h"
#include "smp/Autodiff/ParameterGroups.h"
#include "smp/Interpret/Forward.h"
#include "smp/Interpret/RandomGraph.h"
#include "smp/Interpret/StepRunner.h"
#include "smp/Partition/PartitionModule.h"
#include "smp/Schedule/BuildSchedule.h"
#include "smp/Sharding/Distribute.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

static constexpr double kTolerance = 1e-12;

namespace {

/// What is drawn for one model.
struct Draw {
  uint64_t seed;
  int64_t partitions, owners, microbatches, accumulation;
  OptimizerKind optimizer;
  /// Whether parameters have their own settings, and which one is frozen.
  bool groups;
  std::string frozen;
  LossNormalization normalization;
  schedule::ScheduleKind kind;
};

struct Trained {
  std::vector<StepResult> steps;
  ModelState state;
};

} // namespace

static Draw draw(uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 3);
  using schedule::ScheduleKind;
  constexpr ScheduleKind kinds[] = {
      ScheduleKind::Simple, ScheduleKind::OneFOneB, ScheduleKind::Interleaved};
  Draw drawn;
  drawn.seed = seed;
  drawn.partitions = 1 + random() % 4;
  drawn.owners = 1 + random() % 2;
  drawn.microbatches = 1 + random() % 4;
  constexpr OptimizerKind optimizers[] = {
      OptimizerKind::SGD, OptimizerKind::SGD, OptimizerKind::AdamW,
      OptimizerKind::Adam};
  constexpr LossNormalization normalizations[] = {
      LossNormalization::Step, LossNormalization::Step,
      LossNormalization::Microbatch, LossNormalization::Sum};
  drawn.optimizer = optimizers[random() % 4];
  drawn.kind = kinds[random() % 3];
  drawn.accumulation = 1 + random() % 2;
  drawn.normalization = normalizations[random() % 4];
  drawn.groups = random() % 2;
  return drawn;
}

static StepOptions stepOptions(const Draw &drawn) {
  StepOptions options;
  options.precision = Precision::F64;
  options.owners = drawn.owners;
  options.totalSteps = 2;
  options.config.microbatches = drawn.microbatches;
  options.config.gradientAccumulation = drawn.accumulation;
  options.config.lossNormalization = drawn.normalization;
  options.config.gradientClipping = 0.5;
  OptimizerConfig &optimizer = options.config.optimizer;
  optimizer.kind = drawn.optimizer;
  optimizer.weightDecay = 0.02;
  if (drawn.optimizer == OptimizerKind::SGD) {
    optimizer.lr = 0.1;
    optimizer.momentum = 0.9;
  }
  if (drawn.groups)
    optimizer.groups = {{drawn.frozen, {}, {}, true}, {"[a-z]", 0.1, 0.5, false}};
  return options;
}

/// What the compiler tells `stage` and `differentiate`.
static void normalizeLoss(ModuleOp module, const Draw &drawn) {
  if (drawn.normalization == LossNormalization::Step)
    return;
  int64_t shares = drawn.normalization == LossNormalization::Sum
                       ? 1
                       : drawn.microbatches * drawn.accumulation;
  module->setAttr(kLossSharesAttr,
                  Builder(module.getContext()).getI64IntegerAttr(shares));
}

/// The same optimizer as an attribute for `differentiate`.
static void setOptimizer(ModuleOp module, const Draw &drawn) {
  OptimizerSettings settings;
  settings.kind = drawn.optimizer;
  settings.gradientClipping = 0.5;
  settings.weightDecay = 0.02;
  if (drawn.optimizer == OptimizerKind::SGD)
    settings.momentum = 0.9;
  module->setAttr(kOptimizerAttr, settings.toAttribute(module.getContext()));
}

static Trained trainSteps(ModuleOp module, const Draw &drawn,
                          const TensorMap &batch) {
  Trained trained;
  EXPECT_TRUE(succeeded(verify(module)));
  auto weights = loadWeights(module, WeightSource{});
  auto runner = createStepRunner(module, *weights, stepOptions(drawn));
  EXPECT_TRUE(succeeded(runner));
  if (failed(runner))
    return trained;
  for (int64_t step = 0; step < 2; ++step)
    EXPECT_TRUE(
        succeeded((*runner)->run(step, batch, trained.steps.emplace_back())));
  trained.state = (*runner)->state();
  return trained;
}

static void expectSame(const Trained &found, const Trained &expected) {
  ASSERT_EQ(found.steps.size(), expected.steps.size());
  for (size_t step = 0; step < expected.steps.size(); ++step) {
    const StepResult &a = found.steps[step], &b = expected.steps[step];
    SCOPED_TRACE("step " + std::to_string(step));
    EXPECT_NEAR(a.loss, b.loss, kTolerance * std::abs(b.loss));
    ASSERT_TRUE(a.gradientNorm && b.gradientNorm);
    EXPECT_NEAR(*a.gradientNorm, *b.gradientNorm, kTolerance * *b.gradientNorm);
    ASSERT_EQ(a.aliasGradients.size(), b.aliasGradients.size());
  }
  // Near-zero gradients are rounding; over the model their size is the norm.
  double difference = 0, size = 0;
  for (const auto &[name, b] : expected.steps[0].aliasGradients) {
    auto a = found.steps[0].aliasGradients.find(name);
    ASSERT_NE(a, found.steps[0].aliasGradients.end()) << name;
    for (int64_t element = 0; element < b.size(); ++element) {
      double distance = a->second.number(element) - b.number(element);
      difference = std::max(difference, std::abs(distance));
      size = std::max(size, std::abs(b.number(element)));
    }
  }
  EXPECT_LE(difference, kTolerance * size);
}

/// After SGD also the parameters; Adam makes full steps of rounding noise.
static void expectSameParameters(const Trained &found,
                                 const Trained &expected) {
  for (const auto &[name, value] : expected.state.parameters)
    EXPECT_LE(relativeDifference(found.state.parameters.at(name), value),
              kTolerance)
        << name;
}

class PhasesTest : public testing::TestWithParam<uint64_t> {
protected:
  void SetUp() override {
    drawn = draw(GetParam());
    model =
        buildRandomModel(testContext(), {.seed = drawn.seed, .dropout = true});
    auto parameters = llvm::to_vector(model.module->getOps<ParameterOp>());
    drawn.frozen = parameters[parameters.size() / 2].getSymName();
    batch = randomBatch(
        model, 2 * drawn.owners * drawn.accumulation * drawn.microbatches,
        drawn.seed);
    setOptimizer(*model.module, drawn);
    expected = trainSteps(*model.module, drawn, batch);
    // Not before: the whole model reads groups from the configuration.
    ASSERT_TRUE(succeeded(applyParameterGroups(
        *model.module, stepOptions(drawn).config.optimizer)));
    normalizeLoss(*model.module, drawn);
  }

  void check(const char *phase) {
    SCOPED_TRACE(std::string(phase) + ", " + std::to_string(drawn.partitions) +
                 " partitions, " + std::to_string(drawn.owners) + " owners, " +
                 std::to_string(drawn.accumulation) + " times " +
                 std::to_string(drawn.microbatches) + " microbatches, " +
                 std::string(schedule::scheduleName(drawn.kind)));
    Trained found = trainSteps(*model.module, drawn, batch);
    expectSame(found, expected);
    if (drawn.optimizer == OptimizerKind::SGD)
      expectSameParameters(found, expected);
  }

  Draw drawn;
  RandomModel model;
  TensorMap batch;
  Trained expected;
};

TEST_P(PhasesTest, KeepsTheStep) {
  ModuleOp module = *model.module;
  PartitionOptions partition;
  partition.partitions = drawn.partitions;
  ASSERT_TRUE(succeeded(partitionModule(module, partition)));
  check("partition");
  ASSERT_TRUE(succeeded(stageChunks(module)));
  check("stage");
  ASSERT_TRUE(succeeded(differentiateChunks(module)));
  check("differentiate");
  ASSERT_TRUE(succeeded(distribute(module)));
  check("distribute");
  schedule::ScheduleOptions options;
  options.kind = drawn.kind;
  options.microbatches = drawn.microbatches;
  options.accumulation = drawn.accumulation;
  ASSERT_TRUE(succeeded(buildSchedules(module, options)));
  check("schedule");
}

/// The programs `evaluate` and `predict` are those of the eval graph.
TEST_P(PhasesTest, KeepsEvaluationAndPrediction) {
  ModuleOp module = *model.module;
  auto weights = loadWeights(module, WeightSource{});
  ForwardOptions options = {Precision::F64, 0};
  TensorMap inputs = randomBatch(model, model.rows, drawn.seed + 1);
  auto eval = runForward(module, "eval", *weights, inputs, options);
  ASSERT_TRUE(succeeded(eval));
  PartitionOptions partition;
  partition.partitions = drawn.partitions;
  ASSERT_TRUE(succeeded(partitionModule(module, partition)) &&
              succeeded(stageChunks(module)));
  auto staged = runForward(module, "eval", *weights, inputs, options);
  auto predicted = runForward(module, "predict", *weights, inputs, options);
  ASSERT_TRUE(succeeded(staged) && succeeded(predicted));
  EXPECT_LE(relativeDifference(staged->at("loss"), eval->at("loss")),
            kTolerance);
  EXPECT_LE(relativeDifference(predicted->at("logits"), eval->at("logits")),
            kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PhasesTest,
                         testing::Range(uint64_t{0}, uint64_t{500}));
