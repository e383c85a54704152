//===- ConfigChecks.cpp - Combinations, and what is not built yet ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigDetail.h"

using namespace smp;
using namespace smp::detail;

static std::string text(int64_t value) { return std::to_string(value); }

static Status checkPartitions(const Config &config) {
  int64_t partitions = config.pipelineParallelDegree;
  auto outside = [&](const std::string &key, int64_t value) {
    return Error{"'" + key +
                 "' expects a partition below "
                 "'pipeline_parallel_degree' " +
                 text(partitions) + ", got " + text(value)};
  };
  if (config.defaultPartition && *config.defaultPartition >= partitions)
    return outside("default_partition", *config.defaultPartition);
  for (const auto &[path, partition] : config.assignment)
    if (partition >= partitions)
      return outside("assignment." + path, partition);
  if (config.pipelineLayout && !config.assignment.empty())
    return Error{"expects 'assignment' or 'pipeline_layout', got both"};
  if (!config.autoPartition && !config.defaultPartition &&
      !config.pipelineLayout)
    return Error{"'auto_partition' false expects a 'default_partition', got "
                 "none",
                 "it takes what 'assignment' leaves out"};
  if (config.loadPartition && !config.partitionFile)
    return Error{"'load_partition' expects a 'partition_file', got none"};
  return {};
}

static Status checkRates(const Config &config) {
  const RateConfig &rates = config.lrSchedule;
  if (rates.totalSteps && *rates.totalSteps <= rates.warmupSteps)
    return Error{"'lr_schedule.total_steps' expects more than "
                 "'lr_schedule.warmup_steps' " +
                 text(rates.warmupSteps) + ", got " + text(*rates.totalSteps)};
  if (rates.minLr > config.optimizer.lr)
    return Error{"'lr_schedule.min_lr' expects at most 'optimizer.lr' " +
                 nlohmann::json(config.optimizer.lr).dump() + ", got " +
                 nlohmann::json(rates.minLr).dump()};
  return {};
}

Status detail::checkCombinations(const Config &config) {
  if (config.batchSize && *config.batchSize % config.microbatches)
    return Error{"'batch_size' expects a multiple of 'microbatches' " +
                     text(config.microbatches) + ", got " +
                     text(*config.batchSize),
                 "a batch is cut into equal microbatches"};
  if (config.microbatches * config.gradientAccumulation > mostMicrobatches)
    return Error{"'gradient_accumulation' times 'microbatches' expects at "
                 "most " +
                     text(mostMicrobatches) + " microbatches in a step, got " +
                     text(config.microbatches * config.gradientAccumulation),
                 "give a microbatch more rows"};
  if (config.fp16 && config.bf16)
    return Error{"expects 'fp16' or 'bf16', got both"};
  if (config.ddp.value_or(false) && config.horovod.value_or(false))
    return Error{"expects 'ddp' or 'horovod', got both",
                 "neither is needed here"};
  SMP_RETURN_IF_ERROR(checkPartitions(config));
  return checkRates(config);
}

namespace {
/// A setting that is valid, and what is missing to honour it.
struct Missing {
  bool set;
  std::string_view key, expected;
  std::string value;
  std::string_view feature;
};
} // namespace

static std::vector<Missing> missingLayouts(const Config &c) {
  return {
      {c.tensorParallelDegree != 1, "tensor_parallel_degree", "1",
       text(c.tensorParallelDegree), "tensor parallelism"},
      {c.prescaledBatch, "prescaled_batch", "false", "true",
       "tensor parallelism"},
      {!c.tensorParallelism.empty(), "tensor_parallelism", "no entries",
       text(c.tensorParallelism.size()), "tensor parallelism"},
      {c.shardedDataParallelDegree != 1, "sharded_data_parallel_degree", "1",
       text(c.shardedDataParallelDegree), "sharded data parallelism"},
      {c.shardOptimizerState, "shard_optimizer_state", "false", "true",
       "sharded optimizer state"},
      {c.pipeline == PipelineSchedule::Looped ||
           c.pipeline == PipelineSchedule::ZeroBubble,
       "pipeline", "'interleaved', 'simple' or '1f1b'",
       "'" + std::string(name(c.pipeline)) + "'", "this schedule"},
      {c.optimize == OptimizeFor::Speed &&
           c.pipeline == PipelineSchedule::Interleaved,
       "optimize", "'memory' with pipeline 'interleaved'", "'speed'",
       "the schedule's second mode"},
      {c.target != Target::CPU, "target", "'cpu'", "'cuda'", "this target"}};
}

static std::vector<Missing> missingPartitioning(const Config &c) {
  return {{c.autoPartition && !c.contiguous, "contiguous",
           "true with 'auto_partition'", "false",
           "automatic partitioning into several pieces per stage"},
          {c.memoryLimit.has_value(), "memory_limit", "no value",
           text(c.memoryLimit.value_or(0)), "a memory limit"},
          {c.machine.has_value(), "machine", "no value",
           "'" + c.machine.value_or("") + "'", "a machine description"},
          {c.plan.has_value(), "plan", "no value",
           "'" + c.plan.value_or("") + "'", "following a saved plan"},
          {c.loadPartition, "load_partition", "false", "true",
           "following a saved plan"},
          {c.partitioner != "default", "partitioner", "'default'",
           "'" + c.partitioner + "'", "this partitioner"}};
}

static std::vector<Missing> missingTraining(const Config &c) {
  LossScaleConfig scale = c.effectiveLossScale();
  return {{c.fp16, "fp16", "false", "true", "mixed precision"},
          {c.bf16, "bf16", "false", "true", "mixed precision"},
          {scale.dynamic || scale.initScale != 1, "loss_scale", "1",
           scale.dynamic ? "'dynamic'" : nlohmann::json(scale.initScale).dump(),
           "loss scaling"},
          {c.offloadActivations, "offload_activations", "false", "true",
           "offloading"},
          {!c.activationCheckpointing.empty(), "activation_checkpointing",
           "'none'",
           "'" +
               (c.activationCheckpointing.empty()
                    ? ""
                    : c.activationCheckpointing.begin()->second) +
               "'",
           "recomputation"}};
}

static constexpr auto missingParts = {missingLayouts, missingPartitioning,
                                      missingTraining};

std::optional<std::string> smp::limitOf(std::string_view key) {
  for (auto part : missingParts)
    for (const Missing &missing : part(Config()))
      if (missing.key == key)
        return "so far only " + std::string(missing.expected) + ": " +
               std::string(missing.feature) + " is not built yet";
  return std::nullopt;
}

Status smp::checkSupported(const Config &config) {
  for (auto part : missingParts)
    for (const Missing &missing : part(config))
      if (missing.set)
        return Error{"'" + std::string(missing.key) + "' expects " +
                         std::string(missing.expected) + ", got " +
                         missing.value,
                     std::string(missing.feature) + " is not built yet"};
  return {};
}
