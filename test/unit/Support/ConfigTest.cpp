//===- ConfigTest.cpp - Every key of the configuration --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Config.h"
#include "smp/Support/Json.h"
#include "smp/Support/MappedFile.h"
#include <gtest/gtest.h>

using namespace smp;
using nlohmann::json;

static Config parse(std::string_view text) {
  auto parsed = parseConfig(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().str();
  return parsed ? parsed->config : Config{};
}

static std::string errorOf(std::string_view text) {
  auto parsed = parseConfig(text);
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().str();
}

TEST(Config, Defaults) {
  Config config = parse("");
  EXPECT_EQ(config, parse("{}"));
  EXPECT_EQ(config.pipelineParallelDegree, 1);
  EXPECT_EQ(config.pipeline, PipelineSchedule::Interleaved);
  EXPECT_EQ(config.placementStrategy, "DPT");
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::AdamW);
  EXPECT_EQ(config.optimizer.lr, 1e-3);
  EXPECT_EQ(config.optimizer.weightDecay, 0.01);
  EXPECT_EQ(config.effectiveMemoryWeight(), 0.8);
  EXPECT_EQ(config.effectiveLossScale().initScale, 1);
  EXPECT_FALSE(config.effectiveLossScale().dynamic);
  EXPECT_TRUE(checkSupported(config));
}

/// A valid value other than the default for every key.
static const json allKeys = json::parse(R"({
  "pipeline_parallel_degree": 4, "tensor_parallel_degree": 2,
  "microbatches": 8, "batch_size": 16, "sequence_length": 64,
  "gradient_accumulation": 2, "loss_normalization": "sum",
  "active_microbatches": 5, "pipeline": "zero-bubble", "optimize": "speed",
  "placement_strategy": "PTD", "auto_partition": false,
  "default_partition": 3, "assignment": {"transformer.h.0": 1, "": 2},
  "contiguous": false, "memory_weight": 0.5, "prescaled_batch": true,
  "tensor_parallelism": {"a": true, "b": "column"}, "drop_last": true,
  "ddp": true, "horovod": false, "shard_optimizer_state": true,
  "sharded_data_parallel_degree": 2, "sdp_reduce_bucket_size": 7,
  "sdp_param_persistence_threshold": 0, "sdp_max_live_parameters": 9,
  "sdp_hierarchical_allgather": false, "sdp_gradient_clipping": 2.5,
  "fp16": true, "bf16": false, "offload_activations": true,
  "activation_loading_horizon": 2, "load_partition": true,
  "partition_file": "p.json",
  "activation_checkpointing": {"h": "group_2", "": "each"},
  "seed": 18446744073709551615,
  "optimizer": {"name": "adam", "lr": 0.01, "betas": [0.8, 0.9], "eps": 1e-6,
    "weight_decay": 0.1, "groups": [{"match": "bias$", "weight_decay": 0.0,
    "lr_scale": 2.0, "frozen": true}]},
  "lr_schedule": {"name": "cosine", "warmup_steps": 3, "total_steps": 10,
    "min_lr": 1e-4},
  "gradient_clipping": 1.0, "loss_scale": {"init_scale": 4.0,
    "scale_factor": 4.0, "scale_window": 10, "min_scale": 0.5,
    "delayed_shift": 2, "consecutive_hysteresis": true},
  "memory_limit": "16GiB", "machine": "m.json", "partitioner": "tree",
  "plan": "plan.json", "target": "cuda"})");

TEST(Config, EveryKeyIsReadAndWritten) {
  Config config = parse(allKeys.dump());
  json written = toJson(config);
  json expected = allKeys;
  expected["memory_limit"] = int64_t{1} << 34;
  EXPECT_EQ(written, expected);
  EXPECT_EQ(parse(written.dump()), config);
  // pipeline_layout excludes an assignment, hence apart.
  size_t known = 0;
  for (const ConfigKey &key : configKeys()) {
    EXPECT_TRUE(allKeys.contains(key.name) || key.name == "pipeline_layout")
        << key.name;
    ++known;
  }
  EXPECT_EQ(known, allKeys.size() + 1);
  Config layout = parse(R"({"pipeline_layout": "E|t*3|L"})");
  EXPECT_EQ(layout.pipelineLayout, "E|t*3|L");
  EXPECT_EQ(parse(toJson(layout).dump()), layout);
}

TEST(Config, EveryKeyRefusesEveryOtherType) {
  const json values[] = {true,          -1,         1.5,    "", "x",
                         json::array(), {{"?", 1}}, nullptr};
  for (const auto &[key, good] : allKeys.items()) {
    int refused = 0;
    for (const json &value : values) {
      json object = {{key, value}};
      if (key == "default_partition" || key == "assignment")
        object["pipeline_parallel_degree"] = 4;
      auto parsed = parseConfig(object.dump());
      if (parsed)
        continue;
      ++refused;
      EXPECT_TRUE(parsed.error().message.find("'" + key) != std::string::npos)
          << parsed.error().str();
      EXPECT_TRUE(parsed.error().message.find(", got ") != std::string::npos)
          << parsed.error().str();
    }
    EXPECT_GE(refused, 5) << key;
  }
}

TEST(Config, ABoolIsNoInteger) {
  EXPECT_EQ(errorOf(R"({"microbatches": true})"),
            "'microbatches' expects an integer in [1, 16384], got true");
  EXPECT_EQ(errorOf(R"({"pipeline_parallel_degree": 2.0})"),
            "'pipeline_parallel_degree' expects an integer in [1, 16777216], "
            "got 2.0");
  EXPECT_EQ(errorOf(R"({"fp16": 1})"), "'fp16' expects true or false, got 1");
  EXPECT_EQ(errorOf(R"({"memory_weight": 1.5})"),
            "'memory_weight' expects a number in [0, 1], got 1.5");
  EXPECT_EQ(errorOf(R"({"gradient_clipping": 0})"),
            "'gradient_clipping' expects a number above 0, got 0");
  EXPECT_EQ(errorOf(R"({"batch_size": 18446744073709551615})").substr(0, 12),
            "'batch_size'");
}

TEST(Config, NoneTakesBack) {
  const std::string file = R"({"gradient_clipping": 1.0, "batch_size": 8,
                               "partition_file": "plan"})";
  auto parsed =
      parseConfig(file, std::vector<std::string>{"--gradient-clipping=off",
                                                 "--partition-file=none",
                                                 "--load-partition=false"});
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_FALSE(parsed->config.gradientClipping);
  EXPECT_FALSE(parsed->config.partitionFile);
  EXPECT_EQ(parsed->config.batchSize, 8);
  EXPECT_EQ(errorOf(R"({"microbatches": "none"})"),
            "'microbatches' expects an integer in [1, 16384], got \"none\"");
}

TEST(Config, UnknownKeysNameTheNearest) {
  EXPECT_EQ(errorOf(R"({"micro_batches": 4})"),
            "expects a known configuration key, got 'micro_batches'\n"
            "  note: did you mean 'microbatches'?");
  EXPECT_EQ(errorOf(R"({"partition": 4})"),
            "expects a known configuration key, got 'partition'\n"
            "  note: did you mean 'partitions'?");
  EXPECT_EQ(errorOf(R"({"zzzzzzz": 4})"),
            "expects a known configuration key, got 'zzzzzzz'\n"
            "  note: --help lists all keys");
  EXPECT_EQ(errorOf(R"({"optimizer": {"learning_rate": 4}})"),
            "'optimizer' expects one of its fields, got 'learning_rate'\n"
            "  note: its fields are 'name', 'lr', 'betas', 'eps', "
            "'weight_decay', 'momentum', 'groups'");
  EXPECT_EQ(errorOf(R"({"pipeline": "interleave"})"),
            "'pipeline' expects 'interleaved', 'simple', '1f1b', 'looped' or "
            "'zero-bubble', got \"interleave\"\n"
            "  note: did you mean 'interleaved'?");
}

TEST(Config, Aliases) {
  EXPECT_EQ(parse(R"({"partitions": 3})").pipelineParallelDegree, 3);
  EXPECT_EQ(parse(R"({"backward_passes_per_step": 3})").gradientAccumulation,
            3);
  EXPECT_EQ(errorOf(R"({"partitions": 3, "pipeline_parallel_degree": 3})"),
            "expects 'pipeline_parallel_degree' or its alias 'partitions', got "
            "both");
}

TEST(Config, ImpossibleCombinations) {
  EXPECT_EQ(errorOf(R"({"batch_size": 6, "microbatches": 4})"),
            "'batch_size' expects a multiple of 'microbatches' 4, got 6\n"
            "  note: a batch is cut into equal microbatches");
  EXPECT_EQ(errorOf(R"({"microbatches": 2, "gradient_accumulation": 8193})"),
            "'gradient_accumulation' times 'microbatches' expects at most "
            "16384 microbatches in a step, got 16386\n"
            "  note: give a microbatch more rows");
  EXPECT_EQ(errorOf(R"({"fp16": true, "bf16": true})"),
            "expects 'fp16' or 'bf16', got both");
  EXPECT_EQ(errorOf(R"({"ddp": true, "horovod": true})"),
            "expects 'ddp' or 'horovod', got both\n"
            "  note: neither is needed here");
  EXPECT_EQ(errorOf(R"({"auto_partition": false})"),
            "'auto_partition' false expects a 'default_partition', got none\n"
            "  note: it takes what 'assignment' leaves out");
  EXPECT_EQ(errorOf(R"({"partitions": 2, "default_partition": 2})"),
            "'default_partition' expects a partition below "
            "'pipeline_parallel_degree' 2, got 2");
  EXPECT_EQ(errorOf(R"({"partitions": 2, "assignment": {"h.0": 5}})"),
            "'assignment.h.0' expects a partition below "
            "'pipeline_parallel_degree' 2, got 5");
  EXPECT_EQ(errorOf(R"({"load_partition": true})"),
            "'load_partition' expects a 'partition_file', got none");
  EXPECT_EQ(errorOf(R"({"pipeline_layout": "E", "assignment": {"h": 0}})"),
            "expects 'assignment' or 'pipeline_layout', got both");
  EXPECT_EQ(
      errorOf(R"({"lr_schedule": {"warmup_steps": 5, "total_steps": 5}})"),
      "'lr_schedule.total_steps' expects more than "
      "'lr_schedule.warmup_steps' 5, got 5");
  EXPECT_EQ(errorOf(R"({"lr_schedule": {"min_lr": 1}})"),
            "'lr_schedule.min_lr' expects at most 'optimizer.lr' 0.001, got "
            "1.0");
  EXPECT_EQ(errorOf(R"({"optimizer": {"name": "adamw", "momentum": 0.9}})"),
            "'optimizer.momentum' expects optimizer 'sgd', got 'adamw'\n"
            "  note: leave it out, or set 'optimizer.name'");
  errorOf(R"({"optimizer": {"name": "sgd", "betas": [0.9, 0.99]}})");
  errorOf(R"({"optimizer": {"betas": [0.9, 1.0]}})");
  errorOf(R"({"optimizer": {"betas": [0.9]}})");
  errorOf(R"({"optimizer": {"groups": [{"weight_decay": 1}]}})");
  for (const char *regex :
       {"(", "*a", "[a", "a)", "[z-a]", "a{2", "\\9", "a\\"})
    errorOf(json{{"optimizer", {{"groups", {{{"match", regex}}}}}}}.dump());
}

TEST(Config, GroupsMatchPartsOfNames) {
  auto parsed = parseConfig(R"({"optimizer": {"groups": [
      {"match": "^h\\.[0-9]+\\.", "lr_scale": 0.5}, {"match": "bias|norm"}]}})");
  ASSERT_TRUE(parsed);
  const OptimizerConfig &optimizer = parsed->config.optimizer;
  auto of = [&](std::vector<std::string> names) {
    const OptimizerGroup *group = groupOf(optimizer, names);
    return group ? group - optimizer.groups.data() : -1;
  };
  EXPECT_EQ(of({"h.11.bias"}), 0); // the first that matches
  EXPECT_EQ(of({"x.h.1.weight"}), -1);
  EXPECT_EQ(of({"final.bias"}), 1);
  EXPECT_EQ(of({"head", "norm.weight"}), 1); // under another name
}

TEST(Config, OldKeys) {
  auto parsed = parseConfig(
      R"({"skip_tracing": true, "ddp": true, "sdp_reduce_bucket_size": 5,
          "ddp_dist_backend": "nccl"})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->notes,
            (std::vector<std::string>{
                "'ddp_dist_backend' has no effect: ranks connect by their "
                "transport",
                "'skip_tracing' has no effect: no tracing happens, the graph "
                "is exported",
                "'ddp' has no effect: data parallelism needs no switch",
                "'sdp_reduce_bucket_size' has no effect without "
                "'sharded_data_parallel_degree' above 1"}));
  EXPECT_EQ(errorOf(R"({"fast_mode": true})"),
            "expects no key 'fast_mode', got true\n"
            "  note: it was never publicly defined");
  errorOf(R"({"static_mode": true})");
}

TEST(Config, NotJson) {
  EXPECT_EQ(errorOf("{\"a\": }"), "the configuration expects JSON, got "
                                  "something else at line 1, column 7");
  EXPECT_EQ(errorOf("[1]"), "the configuration expects an object, got [1]");
}

TEST(Config, WhatIsNotBuiltYetSaysSo) {
  const std::pair<const char *, const char *> cases[] = {
      {R"({"tensor_parallel_degree": 2})",
       "'tensor_parallel_degree' expects 1, got 2\n"
       "  note: tensor parallelism is not built yet"},
      {R"({"optimize": "speed"})",
       "'optimize' expects 'memory' with pipeline 'interleaved', got 'speed'\n"
       "  note: the schedule's second mode is not built yet"},
      {R"({"activation_checkpointing": "each"})",
       "'activation_checkpointing' expects 'none', got 'each'\n"
       "  note: recomputation is not built yet"}};
  for (auto [text, message] : cases) {
    Status status = checkSupported(parse(text));
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().str(), message);
  }
  for (const char *text :
       {R"({"prescaled_batch": true})",
        R"({"tensor_parallelism": {"a": true}})",
        R"({"sharded_data_parallel_degree": 2})",
        R"({"shard_optimizer_state": true})", R"({"fp16": true})",
        R"({"bf16": true})", R"({"offload_activations": true})",
        R"({"pipeline": "looped"})", R"({"pipeline": "zero-bubble"})",
        R"({"contiguous": false})", R"({"memory_limit": 5})",
        R"({"machine": "m"})", R"({"target": "cuda"})",
        R"({"partitioner": "tree"})", R"({"loss_scale": 2})",
        R"({"plan": "partition.json"})",
        R"({"load_partition": true, "partition_file": "p.json"})"})
    EXPECT_FALSE(checkSupported(parse(text))) << text;
  for (const char *text :
       {R"({"optimize": "speed", "pipeline": "1f1b"})",
        R"({"optimizer": {"name": "sgd", "momentum": 0.9}})",
        R"({"lr_schedule": "linear"})", R"({"lr_schedule": "cosine"})",
        R"({"loss_scale": 1})", R"({"activation_checkpointing": "none"})",
        R"({"auto_partition": false, "default_partition": 0,
            "contiguous": false})"})
    EXPECT_TRUE(checkSupported(parse(text))) << text;
}

/// The table of the documentation is the table of keys.
TEST(Config, EveryKeyIsDocumented) {
  auto page = readFile(SMP_SOURCE_DIR "/docs/Configuration.md");
  ASSERT_TRUE(page);
  size_t rows = 0;
  for (const ConfigKey &key : configKeys()) {
    std::string row = "| `" + std::string(key.name) + "` | " +
                      std::string(key.type) + " | " +
                      std::string(key.defaultValue) + " | " +
                      std::string(key.meaning) + " |\n";
    EXPECT_NE(page->find(row), std::string::npos) << row;
  }
  for (size_t at = page->find("\n| `"); at != std::string::npos;
       at = page->find("\n| `", at + 1))
    ++rows;
  EXPECT_EQ(rows, configKeys().size());
}
