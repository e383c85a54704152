//===- ConfigFlagsTest.cpp - Flags and special values ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Config.h"
#include "smp/Support/Json.h"
#include <gtest/gtest.h>

using namespace smp;

static Result<ParsedConfig> parse(std::vector<std::string> flags,
                                  std::string_view text = "") {
  return parseConfig(text, flags);
}

TEST(ConfigFlags, OverrideTheFile) {
  auto parsed = parse({"--pipeline-parallel-degree=4", "--pipeline=1f1b",
                       "--drop-last", "--contiguous=false",
                       "--placement-strategy=spread", "--machine=123"},
                      R"({"partitions": 2, "microbatches": 8})");
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->config.pipelineParallelDegree, 4);
  EXPECT_EQ(parsed->config.microbatches, 8);
  EXPECT_EQ(parsed->config.pipeline, PipelineSchedule::OneFOneB);
  EXPECT_TRUE(parsed->config.dropLast);
  EXPECT_FALSE(parsed->config.contiguous);
  EXPECT_EQ(parsed->config.placementStrategy, "TPD");
  EXPECT_EQ(parsed->config.machine, "123");
}

TEST(ConfigFlags, LaterOnesWin) {
  auto parsed = parse({"--microbatches=2", "--microbatches=4", "--partitions=2",
                       "--pipeline_parallel_degree=8"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->config.microbatches, 4);
  EXPECT_EQ(parsed->config.pipelineParallelDegree, 8);
}

TEST(ConfigFlags, FieldsOfObjects) {
  auto parsed = parse(
      {"--optimizer=sgd", "--optimizer.lr=0.5", "--optimizer.weight-decay=0.1",
       "--lr-schedule.warmup-steps=7", "--assignment.transformer.h.0=0",
       "--tensor-parallelism.my-module=true"},
      R"({"lr_schedule": {"name": "cosine"}})");
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->config.optimizer.kind, OptimizerKind::SGD);
  EXPECT_EQ(parsed->config.optimizer.lr, 0.5);
  EXPECT_EQ(parsed->config.optimizer.weightDecay, 0.1);
  EXPECT_EQ(parsed->config.lrSchedule.kind, RateSchedule::Cosine);
  EXPECT_EQ(parsed->config.lrSchedule.warmupSteps, 7);
  EXPECT_EQ(parsed->config.assignment.at("transformer.h.0"), 0);
  EXPECT_TRUE(parsed->config.tensorParallelism.contains("my-module"));
  EXPECT_FALSE(parse({"--microbatches.x=1", "--microbatches.x=1"}));
  EXPECT_FALSE(parse({"--microbatches=1", "--microbatches.x=1"}));
}

TEST(ConfigFlags, Malformed) {
  for (const char *flag : {"microbatches=4", "--", "-microbatches=4",
                           "--microbatches=", "--microbatches=four",
                           "--microbatches", "--nothing=1", "--optimizer={"})
    EXPECT_FALSE(parse({flag})) << flag;
}

TEST(ConfigFlags, AreToldFromOthers) {
  EXPECT_TRUE(isConfigFlag("--pipeline-parallel-degree=2"));
  EXPECT_TRUE(isConfigFlag("--partitions=2"));
  EXPECT_TRUE(isConfigFlag("--optimizer.lr=2"));
  EXPECT_TRUE(isConfigFlag("--skip-tracing"));
  EXPECT_FALSE(isConfigFlag("--stop-after=shard"));
  EXPECT_FALSE(isConfigFlag("model.pt2"));
  EXPECT_FALSE(isConfigFlag("-o"));
}

TEST(ConfigFlags, MemoryLimits) {
  const std::pair<const char *, int64_t> good[] = {
      {"--memory-limit=1024", 1024},
      {"--memory-limit=16GiB", int64_t{16} << 30},
      {"--memory-limit=1.5 MB", 1500000},
      {"--memory-limit=\"2KB\"", 2000}};
  for (auto [flag, bytes] : good) {
    auto parsed = parse({flag});
    ASSERT_TRUE(parsed) << flag;
    EXPECT_EQ(parsed->config.memoryLimit, bytes) << flag;
  }
  for (const char *flag : {"--memory-limit=0", "--memory-limit=-1GB",
                           "--memory-limit=GB", "--memory-limit=1 XB",
                           "--memory-limit=1e300TB", "--memory-limit=nanGB"})
    EXPECT_FALSE(parse({flag})) << flag;
}

TEST(ConfigFlags, LossScales) {
  auto fixed = parse({"--loss-scale=128"});
  ASSERT_TRUE(fixed);
  EXPECT_FALSE(fixed->config.effectiveLossScale().dynamic);
  EXPECT_EQ(fixed->config.effectiveLossScale().initScale, 128);
  for (const char *flag : {"--loss-scale=dynamic", "--fp16"}) {
    auto dynamic = parse({flag});
    ASSERT_TRUE(dynamic);
    EXPECT_TRUE(dynamic->config.effectiveLossScale().dynamic);
    EXPECT_EQ(dynamic->config.effectiveLossScale().initScale, 0x1p32);
    EXPECT_EQ(dynamic->config.effectiveLossScale().scaleWindow, 1000);
  }
  for (const char *flag :
       {"--loss-scale=0", "--loss-scale=static", "--loss-scale.scale-factor=1",
        "--loss-scale.window=5"})
    EXPECT_FALSE(parse({flag})) << flag;
}
