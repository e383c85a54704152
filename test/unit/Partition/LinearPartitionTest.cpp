//===- LinearPartitionTest.cpp - Tests of the linear partition ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/LinearPartition.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace smp::partition {
namespace {

LinearProblem uniform(int units, int stages, double memoryWeight) {
  LinearProblem problem;
  for (int i = 0; i < units; ++i)
    problem.units.push_back({.path = "h." + std::to_string(i),
                             .time = 1,
                             .residentBytes = 100,
                             .stashBytes = 100});
  problem.cuts.resize(units - 1, {.bytes = 8});
  problem.stages = stages;
  problem.memoryWeight = memoryWeight;
  return problem;
}

TEST(LinearPartition, EqualUnitsAreSharedEvenly) {
  Result<LinearPlan> plan = partitionLinear(uniform(8, 4, 0.2));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->begin, (std::vector<int>{0, 2, 4, 6}));
  EXPECT_DOUBLE_EQ(plan->objective, 0.25);
  EXPECT_DOUBLE_EQ(plan->orderBound, 0.25);
  EXPECT_DOUBLE_EQ(plan->anyOrderBound, 0.25);
  EXPECT_EQ(plan->transferBytes, 24);
  EXPECT_EQ(plan->stageOf(0), 0);
  EXPECT_EQ(plan->stageOf(3), 1);
  EXPECT_EQ(plan->stageOf(7), 3);
}

// Early stages hold more microbatches: weighed by memory they get fewer units,
// weighed by time they do not.
TEST(LinearPartition, MemoryCountsMicrobatchesInFlight) {
  LinearProblem problem = uniform(9, 2, 1.0);
  problem.inFlight = {4, 1};
  Result<LinearPlan> plan = partitionLinear(problem);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->begin, (std::vector<int>{0, 2}));
  EXPECT_EQ(plan->stages[0].memory, 1000);
  EXPECT_EQ(plan->stages[1].memory, 1400);
  problem.memoryWeight = 0;
  plan = partitionLinear(problem);
  EXPECT_GE(plan->begin[1], 4);
}

TEST(LinearPartition, TiesGoToTheSmallerTransfer) {
  LinearProblem problem = uniform(3, 2, 0.2);
  problem.cuts[0].bytes = 16;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 2);
  problem.cuts[0].bytes = 4;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 1);
}

TEST(LinearPartition, ThenToWholeModules) {
  LinearProblem problem = uniform(3, 2, 0.2);
  problem.units[0].path = "h.0.attn";
  problem.units[1].path = "h.0.mlp";
  problem.units[2].path = "h.1.attn";
  EXPECT_EQ(partitionLinear(problem)->begin[1], 2);
}

TEST(LinearPartition, TransfersTakeTime) {
  LinearProblem problem = uniform(4, 2, 0.0);
  problem.cuts[1].bytes = 1000;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 2);
  problem.secondsPerByte = 0.01;
  EXPECT_NE(partitionLinear(problem)->begin[1], 2);
}

TEST(LinearPartition, PinsAndForbiddenCuts) {
  LinearProblem problem = uniform(6, 2, 0.2);
  problem.units[4].pin = 0;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 5);
  problem.units[4].pin = std::nullopt;
  problem.units[1].pin = 1;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 1);
  problem.units[1].pin = std::nullopt;
  problem.cuts[2].allowed = false;
  EXPECT_NE(partitionLinear(problem)->begin[1], 3);
}

TEST(LinearPartition, MemoryLimitIsHard) {
  LinearProblem problem = uniform(6, 2, 0.0);
  problem.units[0].residentBytes = 500;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 3);
  problem.memoryLimit = 900;
  EXPECT_EQ(partitionLinear(problem)->begin[1], 2);
}

TEST(LinearPartition, ExplainsEachCut) {
  Result<LinearPlan> plan = partitionLinear(uniform(4, 2, 0.0));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->explanations.size(), 1u);
  EXPECT_EQ(plan->explanations[0],
            "stage 1 starts at 'h.2': 8 bytes cross there and back in each "
            "microbatch; stage 0 "
            "costs 0.5, stage 1 costs 0.5, the largest 0.5; one unit earlier "
            "the largest would be 0.75, one later 0.75");
}

std::string errorOf(const LinearProblem &problem) {
  Result<LinearPlan> plan = partitionLinear(problem);
  return plan ? "" : plan.error().str();
}

TEST(LinearPartition, Errors) {
  EXPECT_EQ(errorOf(uniform(2, 3, 0.2)),
            "expects at least one unit for each of 3 stages, got 2 units\n"
            "  note: lower 'pipeline_parallel_degree'");
  LinearProblem problem = uniform(3, 2, 1.5);
  EXPECT_EQ(errorOf(problem), "expects 'memory_weight' from 0 to 1, got 1.5");
  problem = uniform(3, 2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(errorOf(problem), "expects 'memory_weight' from 0 to 1, got nan");
  problem = uniform(3, 2, 0.2);
  problem.cuts.pop_back();
  EXPECT_EQ(errorOf(problem), "expects 2 places to cut between 3 units, got 1");
  problem = uniform(3, 2, 0.2);
  problem.inFlight = {1};
  EXPECT_EQ(errorOf(problem),
            "expects the microbatches in flight of 2 stages, got 1");
  problem = uniform(3, 2, 0.2);
  problem.units[0].pin = 2;
  EXPECT_EQ(errorOf(problem),
            "expects 'h.0' pinned to a partition from 0 to 1, got 2");
  problem.units[0].pin = 1;
  problem.units[1].pin = 0;
  EXPECT_EQ(errorOf(problem),
            "expects pins in the order of the model, got 'h.0' on partition 1 "
            "before 'h.1' on partition 0\n  note: set 'auto_partition' to "
            "false for an assignment that visits a partition more than once");
  problem = uniform(3, 2, 0.2);
  problem.units[0].pin = 1;
  EXPECT_EQ(errorOf(problem),
            "expects a plan of 2 stages that keeps the pins and what may not "
            "be cut, got none\n  note: remove pins or lower "
            "'pipeline_parallel_degree'");
}

TEST(LinearPartition, SaysWhatWouldFit) {
  LinearProblem problem = uniform(4, 2, 0.2);
  problem.inFlight = {3, 1};
  problem.memoryLimit = 500;
  EXPECT_EQ(errorOf(problem),
            "expects every stage to fit into 500 bytes, got stage 1 with 600 "
            "bytes in the plan that needs least\n  note: 300 bytes are "
            "parameters, gradients and optimizer state, 300 bytes activations "
            "of 1 microbatches in flight; a larger 'pipeline_parallel_degree' "
            "would help");
}

TEST(LinearPartition, EvaluatesGivenCuts) {
  LinearProblem problem = uniform(4, 2, 0.0);
  Result<LinearPlan> plan = evaluatePlan(problem, {0, 1});
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(plan->objective, 0.75);
  EXPECT_LE(plan->orderBound, plan->objective);
  for (const std::vector<int> &begin :
       {std::vector<int>{0}, std::vector<int>{1, 2}, std::vector<int>{0, 0},
        std::vector<int>{0, 4}})
    EXPECT_FALSE(evaluatePlan(problem, begin));
}

/// Cost of one stage, straight from the definition.
double stageCost(const LinearProblem &problem, int stage, int from, int to) {
  double time = 0, allTime = 0;
  int64_t memory = 0, allMemory = 0, most = 1;
  for (int64_t count : problem.inFlight)
    most = std::max(most, count);
  for (int i = 0; i < int(problem.units.size()); ++i) {
    const Unit &unit = problem.units[i];
    allTime += unit.time;
    allMemory += unit.residentBytes + most * unit.stashBytes;
    if (i < from || i >= to)
      continue;
    time += unit.time;
    memory += unit.residentBytes + problem.inFlight[stage] * unit.stashBytes;
  }
  if (problem.memoryLimit && memory > problem.memoryLimit)
    return std::numeric_limits<double>::infinity();
  if (from > 0)
    time += problem.secondsPerByte * double(problem.cuts[from - 1].bytes);
  if (to < int(problem.units.size()))
    time += problem.secondsPerByte * double(problem.cuts[to - 1].bytes);
  return problem.memoryWeight * double(memory) / double(allMemory) +
         (1 - problem.memoryWeight) * time / allTime;
}

struct Best {
  double objective = std::numeric_limits<double>::infinity();
  int64_t bytes = 0;
};

/// All plans, by recursion over the stages.
void enumerate(const LinearProblem &problem, int stage, int from,
               double objective, int64_t bytes, Best &best) {
  int units = int(problem.units.size());
  if (stage == problem.stages) {
    constexpr double slack = 1e-12;
    if (from != units || objective > best.objective + slack)
      return;
    if (objective < best.objective - slack || bytes < best.bytes)
      best = {std::min(objective, best.objective), bytes};
    return;
  }
  for (int to = from + 1; to <= units; ++to) {
    bool allowed = to == units || problem.cuts[to - 1].allowed;
    for (int i = from; i < to; ++i)
      allowed &= problem.units[i].pin.value_or(stage) == stage;
    if (allowed)
      enumerate(problem, stage + 1, to,
                std::max(objective, stageCost(problem, stage, from, to)),
                bytes + (to < units ? problem.cuts[to - 1].bytes : 0), best);
  }
}

LinearProblem randomProblem(std::mt19937 &random) {
  LinearProblem problem;
  int units = 2 + int(random() % 9);
  problem.stages = 1 + int(random() % std::min(units, 4));
  for (int i = 0; i < units; ++i)
    problem.units.push_back({.path = "h." + std::to_string(i / 2),
                             .time = double(1 + random() % 4),
                             .residentBytes = int64_t(1 + random() % 4),
                             .stashBytes = int64_t(random() % 4)});
  for (int i = 0; i + 1 < units; ++i)
    problem.cuts.push_back(
        {.bytes = int64_t(random() % 5), .allowed = random() % 8 != 0});
  if (random() % 3 == 0)
    problem.units[random() % units].pin = int(random() % problem.stages);
  problem.memoryWeight = double(random() % 5) / 4;
  for (int s = 0; s < problem.stages; ++s)
    problem.inFlight.push_back(1 + int64_t(random() % 4));
  problem.secondsPerByte = double(random() % 2) / 4;
  problem.memoryLimit = random() % 4 == 0 ? int64_t(20 + random() % 40) : 0;
  return problem;
}

TEST(LinearPartition, EqualsBruteForce) {
  std::mt19937 random(7);
  int solved = 0, infeasible = 0;
  for (int round = 0; round < 1000; ++round) {
    LinearProblem problem = randomProblem(random);
    Best best;
    enumerate(problem, 0, 0, 0, 0, best);
    Result<LinearPlan> plan = partitionLinear(problem);
    if (best.objective == std::numeric_limits<double>::infinity()) {
      EXPECT_FALSE(plan);
      ++infeasible;
      continue;
    }
    ASSERT_TRUE(plan) << plan.error().str();
    EXPECT_NEAR(plan->objective, best.objective, 1e-12);
    EXPECT_EQ(plan->transferBytes, best.bytes);
    EXPECT_EQ(plan->orderBound, plan->objective);
    EXPECT_LE(plan->anyOrderBound, plan->objective + 1e-12);
    ++solved;
  }
  EXPECT_GT(solved, 500);
  EXPECT_GT(infeasible, 50);
}

// A 48-layer model has some thousand units.
TEST(LinearPartition, LargeProblemIsQuick) {
  Result<LinearPlan> plan = partitionLinear(uniform(1500, 8, 0.8));
  ASSERT_TRUE(plan);
  EXPECT_NEAR(plan->objective, 0.125, 0.01);
}

} // namespace
} // namespace smp::partition
