//===- ProgramRunnerTest.cpp - Programs on virtual ranks mean the model ---===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A staged module of three chunks on two ranks, with a skip connection that is
// relayed and a parameter that both ranks hold: its step as a whole, and after
// `differentiate` and `distribute`, is the same.
//
//===----------------------------------------------------------------------===//

#include "TestContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "smp/Autodiff/Differentiate.h"
#include "smp/Interpret/RandomGraph.h"
#include "smp/Interpret/StepRunner.h"
#include "smp/Schedule/BuildSchedule.h"
#include "smp/Sharding/Distribute.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

static constexpr const char *kStaged = R"(
module attributes {smp.pp = 2 : i64, smp.rows = 3 : i64,
                   smp.optimizer = {name = "sgd", momentum = 9.0e-01,
                                    weight_decay = 0.0, gradient_clipping = 0.5}} {
  smp.parameter @embed : tensor<7x4xf32> aliases ["head"]
  smp.parameter @scale : tensor<4xf32>
  smp.parameter @fixed : tensor<4x4xf32> frozen
  func.func @chunk0_forward(%table: tensor<7x4xf32> {smp.binding = #smp.binding<parameter, "embed">},
                            %ids: tensor<3xi64> {smp.binding = #smp.binding<input, "ids">})
      -> (tensor<3x4xf32> {smp.binding = #smp.binding<activation, "v0">}) {
    %0 = smp.embedding %table, %ids : tensor<7x4xf32>, tensor<3xi64>
    %1 = smp.tanh %0 : tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
  func.func @chunk1_forward(%v: tensor<3x4xf32> {smp.binding = #smp.binding<activation, "v0">},
                            %scale: tensor<4xf32> {smp.binding = #smp.binding<parameter, "scale">},
                            %fixed: tensor<4x4xf32> {smp.binding = #smp.binding<parameter, "fixed">})
      -> (tensor<3x4xf32> {smp.binding = #smp.binding<activation, "v0">},
          tensor<3x4xf32> {smp.binding = #smp.binding<activation, "v1">}) {
    %0 = smp.linear %v, %fixed : tensor<3x4xf32>, tensor<4x4xf32>
    %1 = smp.expand %scale [1] : tensor<4xf32> -> tensor<3x4xf32>
    %2 = smp.mul %0, %1 : tensor<3x4xf32>
    %3 = smp.dropout %2 probability 2.5e-01 site 1 : tensor<3x4xf32>
    %4 = smp.add %3, %v : tensor<3x4xf32>
    return %v, %4 : tensor<3x4xf32>, tensor<3x4xf32>
  }
  func.func @chunk2_forward(%v: tensor<3x4xf32> {smp.binding = #smp.binding<activation, "v0">},
                            %w: tensor<3x4xf32> {smp.binding = #smp.binding<activation, "v1">},
                            %head: tensor<7x4xf32> {smp.binding = #smp.binding<parameter, "head">},
                            %labels: tensor<3xi64> {smp.binding = #smp.binding<input, "labels">})
      -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    %0 = smp.add %v, %w : tensor<3x4xf32>
    %1 = smp.linear %0, %head : tensor<3x4xf32>, tensor<7x4xf32>
    %sum, %count, %lse = smp.cross_entropy %1, %labels ignore -100 : tensor<3x7xf32>, tensor<3xi64>
    %2 = smp.mean_loss "loss" %sum by %count : tensor<f32>
    return %2 : tensor<f32>
  }
  func.func @chunk2_count(%labels: tensor<3xi64> {smp.binding = #smp.binding<input, "labels">},
                          %count: tensor<i64> {smp.binding = #smp.binding<count, "loss">})
      -> (tensor<i64> {smp.binding = #smp.binding<count, "loss">}) {
    %0 = smp.label_count %labels ignore -100 : tensor<3xi64>
    %1 = smp.add %count, %0 : tensor<i64>
    return %1 : tensor<i64>
  }
  smp.chunk @chunk0 0 on 0 forward @chunk0_forward
  smp.chunk @chunk1 1 on 1 forward @chunk1_forward
  smp.chunk @chunk2 2 on RANK forward @chunk2_forward count @chunk2_count
})";

static OwningOpRef<ModuleOp> stagedModule(int lastRank) {
  std::string text = kStaged;
  text.replace(text.find("RANK"), 4, std::to_string(lastRank));
  return parseSourceString<ModuleOp>(text, testContext());
}

static TensorMap randomRows(int64_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  TensorMap batch;
  for (const char *name : {"ids", "labels"}) {
    Tensor tensor(DataType::I64, {rows});
    for (int64_t &element : tensor.mutableInts())
      element = random() % 7;
    batch[name] = tensor;
  }
  batch["labels"].mutableInts()[1] = -100;
  return batch;
}

struct Trained {
  std::vector<StepResult> steps;
  ModelState state;
};

static Trained trainSteps(ModuleOp module, int64_t owners,
                          int64_t microbatches) {
  Trained trained;
  EXPECT_TRUE(succeeded(verify(module)));
  StepOptions options;
  options.precision = Precision::F64;
  options.owners = owners;
  options.config.microbatches = microbatches;
  options.config.optimizer.kind = OptimizerKind::SGD;
  options.config.optimizer.lr = 0.5;
  options.config.optimizer.momentum = 0.9;
  options.config.optimizer.weightDecay = 0;
  options.config.gradientClipping = 0.5;
  auto weights = loadWeights(module, WeightSource{});
  auto runner = createStepRunner(module, *weights, options);
  EXPECT_TRUE(succeeded(runner));
  if (failed(runner))
    return trained;
  TensorMap batch = randomRows(12, 5);
  for (int64_t step = 0; step < 3; ++step)
    EXPECT_TRUE(
        succeeded((*runner)->run(step, batch, trained.steps.emplace_back())));
  trained.state = (*runner)->state();
  return trained;
}

static void expectSame(const Trained &a, const Trained &b) {
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t step = 0; step < a.steps.size(); ++step) {
    EXPECT_NEAR(a.steps[step].loss, b.steps[step].loss, 1e-12);
    ASSERT_TRUE(a.steps[step].gradientNorm && b.steps[step].gradientNorm);
    EXPECT_NEAR(*a.steps[step].gradientNorm, *b.steps[step].gradientNorm,
                1e-12);
    for (const auto &[name, gradient] : b.steps[step].aliasGradients)
      EXPECT_LE(
          relativeDifference(a.steps[step].aliasGradients.at(name), gradient),
          1e-12)
          << name;
  }
  for (const auto &[name, value] : b.state.parameters)
    EXPECT_LE(relativeDifference(a.state.parameters.at(name), value), 1e-12)
        << name;
  for (const auto &[name, value] : b.state.optimizer)
    EXPECT_LE(relativeDifference(a.state.optimizer.at(name), value), 1e-12)
        << name;
}

class ProgramRunnerTest : public testing::TestWithParam<int> {};

TEST_P(ProgramRunnerTest, DifferentiatedAndDistributedMeanTheSame) {
  OwningOpRef<ModuleOp> module = stagedModule(GetParam());
  ASSERT_TRUE(module);
  Trained expected = trainSteps(*module, 2, 2);
  ASSERT_EQ(expected.steps.size(), 3u);
  EXPECT_LT(expected.steps[2].loss, expected.steps[0].loss);
  ASSERT_TRUE(succeeded(differentiateChunks(*module)));
  expectSame(trainSteps(*module, 2, 2), expected);
  expectSame(trainSteps(*module, 1, 4), expected);
  ASSERT_TRUE(succeeded(distribute(*module)));
  expectSame(trainSteps(*module, 2, 2), expected);
  using schedule::ScheduleKind;
  for (ScheduleKind kind : {ScheduleKind::Simple, ScheduleKind::OneFOneB,
                            ScheduleKind::Interleaved}) {
    SCOPED_TRACE(std::string(schedule::scheduleName(kind)));
    OwningOpRef<ModuleOp> scheduled = module->clone();
    ASSERT_TRUE(succeeded(
        buildSchedules(*scheduled, {.kind = kind, .microbatches = 2})));
    expectSame(trainSteps(*scheduled, 2, 2), expected);
  }
}

/// A schedule whose slots are wrong is found out, not followed.
TEST(ScheduleRunner, ReportsAnOverwrittenValue) {
  OwningOpRef<ModuleOp> module = stagedModule(1);
  ASSERT_TRUE(succeeded(differentiateChunks(*module)));
  ASSERT_TRUE(succeeded(distribute(*module)));
  ASSERT_TRUE(succeeded(buildSchedules(
      *module, {.kind = schedule::ScheduleKind::Simple, .microbatches = 2})));
  auto train = module->lookupSymbol<ScheduleOp>("train");
  Builder builder(testContext());
  train.walk([&](LaunchOp launch) {
    SmallVector<NamedAttribute> slots(launch.getSlots().getValue());
    for (NamedAttribute &slot : slots)
      if (slot.getName().getValue() == "stash.c0")
        slot.setValue(builder.getI64IntegerAttr(0));
    launch.setSlotsAttr(builder.getDictionaryAttr(slots));
  });
  StepOptions options;
  options.config.microbatches = 2;
  auto weights = loadWeights(*module, WeightSource{});
  auto runner = createStepRunner(*module, *weights, options);
  ASSERT_TRUE(succeeded(runner));
  std::string message;
  ScopedDiagnosticHandler handler(testContext(), [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  StepResult result;
  EXPECT_TRUE(failed((*runner)->run(0, randomRows(6, 5), result)));
  EXPECT_NE(message.find("for 'chunk0_backward', microbatch 0, got none"),
            std::string::npos)
      << message;
}

// The last chunk on the rank of the first one, or on that of the second.
INSTANTIATE_TEST_SUITE_P(LastRank, ProgramRunnerTest, testing::Values(0, 1));
