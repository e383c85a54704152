//===- ConfigKeys.cpp - The table of configuration keys -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigDetail.h"
#include "smp/Support/Grid.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace smp;
using namespace smp::detail;
using nlohmann::json;

static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
/// Keeps every product of sizes far from overflow.
static constexpr int64_t many = 1 << 24;

static constexpr std::array<std::string_view, 5> pipelineNames = {
    "interleaved", "simple", "1f1b", "looped", "zero-bubble"};
static constexpr std::array<std::string_view, 2> optimizeNames = {"memory",
                                                                  "speed"};
static constexpr std::array<std::string_view, 3> normalizationNames = {
    "step", "microbatch", "sum"};
static constexpr std::array<std::string_view, 2> targetNames = {"cpu", "cuda"};
static constexpr std::array<std::string_view, 2> partitionerNames = {"default",
                                                                     "tree"};

std::string_view smp::name(PipelineSchedule value) {
  return pipelineNames[static_cast<size_t>(value)];
}
std::string_view smp::name(OptimizeFor value) {
  return optimizeNames[static_cast<size_t>(value)];
}
std::string_view smp::name(LossNormalization value) {
  return normalizationNames[static_cast<size_t>(value)];
}
std::string_view smp::name(Target value) {
  return targetNames[static_cast<size_t>(value)];
}

template <typename T> static json toValue(const std::optional<T> &value) {
  return value ? json(*value) : json(nullptr);
}
template <typename T> static json toValue(const T &value) { return value; }

/// Whether a value is the word that takes a setting back, which is done then.
template <typename T>
static bool takeBack(std::optional<T> &member, const json &value) {
  bool isWord = value == "none" || value == "off";
  if (isWord)
    member.reset();
  return isWord;
}
template <typename T>
static bool takeBack(T & /*member*/, const json & /*value*/) {
  return false;
}

/// Binds a member whose value `read` gives.
template <typename Member, typename Reader>
static KeyBinding bind(ConfigKey help, Member Config::*member, Reader read,
                       bool isText = false) {
  return {help,
          [=](Config &config, const json &value) -> Status {
            if (takeBack(config.*member, value))
              return {};
            auto result = read(help.name, value);
            if (!result)
              return result.error();
            config.*member = std::move(*result);
            return {};
          },
          [=](const Config &config) { return toValue(config.*member); },
          isText};
}

template <typename Member>
static KeyBinding integer(ConfigKey help, Member Config::*member, int64_t low,
                          int64_t high = unlimited) {
  return bind(help, member, [=](std::string_view key, const json &value) {
    return readInteger(key, value, low, high);
  });
}

template <typename Member>
static KeyBinding number(ConfigKey help, Member Config::*member, double low,
                         double high, std::string_view range) {
  return bind(help, member, [=](std::string_view key, const json &value) {
    return readNumber(key, value, low, high, range);
  });
}

template <typename Member>
static KeyBinding boolean(ConfigKey help, Member Config::*member) {
  return bind(help, member, readBool);
}

static KeyBinding text(ConfigKey help,
                       std::optional<std::string> Config::*member) {
  return bind(help, member, readText, true);
}

template <typename Enum, size_t n>
static KeyBinding choice(ConfigKey help, Enum Config::*member,
                         const std::array<std::string_view, n> &names) {
  return {
      help,
      [=, &names](Config &config, const json &value) -> Status {
        SMP_ASSIGN_OR_RETURN(size_t index, readChoice(help.name, value, names));
        config.*member = static_cast<Enum>(index);
        return {};
      },
      [=](const Config &config) { return json(name(config.*member)); }, true};
}

static Result<std::string> readPlacement(std::string_view key,
                                         const json &value) {
  SMP_ASSIGN_OR_RETURN(std::string placement, readText(key, value));
  return canonicalPlacement(placement);
}

static Result<std::string> readPartitioner(std::string_view key,
                                           const json &value) {
  SMP_ASSIGN_OR_RETURN(size_t index, readChoice(key, value, partitionerNames));
  return std::string(partitionerNames[index]);
}

static Status readSeed(Config &config, const json &value) {
  if (!value.is_number_unsigned())
    return Error{"'seed' expects an integer from 0 to 2^64 - 1, got " +
                 shortText(value)};
  config.seed = value.get<uint64_t>();
  return {};
}

static json writeCheckpointing(const Config &config) {
  if (config.activationCheckpointing.empty())
    return "none";
  return config.activationCheckpointing;
}

static std::vector<KeyBinding> layoutKeys() {
  using C = Config;
  return {
      integer({"pipeline_parallel_degree", "integer", "1", "pipeline stages"},
              &C::pipelineParallelDegree, 1, many),
      integer({"tensor_parallel_degree", "integer", "1",
               "ranks that share each split tensor"},
              &C::tensorParallelDegree, 1, many),
      integer({"microbatches", "integer", "1", "pieces of a step's batch"},
              &C::microbatches, 1, mostMicrobatches),
      integer({"batch_size", "integer", "from the export",
               "samples per data owner and accumulation"},
              &C::batchSize, 1, unlimited / many),
      integer({"sequence_length", "integer", "from the export",
               "tokens per sample, where symbolic"},
              &C::sequenceLength, 1, unlimited / many),
      integer({"gradient_accumulation", "integer", "1",
               "batches accumulated before an update"},
              &C::gradientAccumulation, 1, many),
      choice({"loss_normalization", "step, microbatch or sum", "step",
              "what the loss is divided by"},
             &C::lossNormalization, normalizationNames),
      integer({"active_microbatches", "integer", "by schedule",
               "most microbatches in flight on a stage"},
              &C::activeMicrobatches, 1, many),
      choice({"pipeline", "interleaved, simple, 1f1b, looped or zero-bubble",
              "interleaved", "order of microbatches on each stage"},
             &C::pipeline, pipelineNames),
      choice({"optimize", "memory or speed", "memory",
              "what partition and schedule prefer"},
             &C::optimize, optimizeNames),
      bind({"placement_strategy", "cluster, spread or a permutation of D, P, T",
            "cluster", "order of the grid's axes over the ranks"},
           &C::placementStrategy, readPlacement, true),
  };
}

static std::vector<KeyBinding> partitionKeys() {
  using C = Config;
  return {
      boolean({"auto_partition", "bool", "true",
               "the compiler cuts the model; false: by assignment"},
              &C::autoPartition),
      integer({"default_partition", "integer", "none",
               "stage of what the assignment leaves out"},
              &C::defaultPartition, 0),
      {{"assignment", "object", "{}", "module path to stage, innermost wins"},
       readAssignment,
       [](const Config &config) { return json(config.assignment); }},
      text({"pipeline_layout", "text", "none", "Megatron's layout string"},
           &C::pipelineLayout),
      boolean(
          {"contiguous", "bool", "true", "every stage is one connected piece"},
          &C::contiguous),
      number({"memory_weight", "number", "0.8 (memory), 0.2 (speed)",
              "weight of memory against time in the balance"},
             &C::memoryWeight, 0, 1, "in [0, 1]"),
      boolean({"load_partition", "bool", "false",
               "take the plan from partition_file"},
              &C::loadPartition),
      text({"partition_file", "path", "none", "a saved plan"},
           &C::partitionFile),
      {{"memory_limit", "bytes or text", "none", "most memory of a device"},
       readMemoryLimit,
       [](const Config &config) { return toValue(config.memoryLimit); }},
      text({"machine", "path", "none", "description of the machine"},
           &C::machine),
      bind(
          {"partitioner", "default or tree", "default", "how the model is cut"},
          &C::partitioner, readPartitioner, true),
      text({"plan", "path", "none", "a plan to follow, in part or in whole"},
           &C::plan),
      choice({"target", "cpu or cuda", "cpu", "what the job runs on"},
             &C::target, targetNames),
  };
}

static std::vector<KeyBinding> memoryKeys() {
  using C = Config;
  return {
      boolean({"prescaled_batch", "bool", "false",
               "ranks of a tensor group read the same samples"},
              &C::prescaledBatch),
      {{"tensor_parallelism", "object", "{}",
        "module path to true, false or a layout"},
       readTensorParallelism,
       writeTensorParallelism},
      boolean({"shard_optimizer_state", "bool", "false",
               "optimizer state split over replicas"},
              &C::shardOptimizerState),
      integer({"sharded_data_parallel_degree", "integer", "1",
               "ranks that split parameters, gradients and state"},
              &C::shardedDataParallelDegree, 1, many),
      integer({"sdp_reduce_bucket_size", "integer", "500000000",
               "elements of a gradient bucket"},
              &C::sdpReduceBucketSize, 1),
      integer({"sdp_param_persistence_threshold", "integer", "1000000",
               "elements of parameters too small to split"},
              &C::sdpParamPersistenceThreshold, 0),
      integer({"sdp_max_live_parameters", "integer", "1000000000",
               "gathered elements alive at once"},
              &C::sdpMaxLiveParameters, 1),
      boolean({"sdp_hierarchical_allgather", "bool", "true",
               "within the host first"},
              &C::sdpHierarchicalAllgather),
      number({"sdp_gradient_clipping", "number", "1.0", "global norm limit"},
             &C::sdpGradientClipping, std::numeric_limits<double>::min(),
             std::numeric_limits<double>::max(), "above 0"),
      boolean({"fp16", "bool", "false", "mixed precision in fp16"}, &C::fp16),
      boolean({"bf16", "bool", "false", "mixed precision in bf16"}, &C::bf16),
      boolean({"offload_activations", "bool", "false",
               "checkpointed activations live in host memory"},
              &C::offloadActivations),
      integer({"activation_loading_horizon", "integer", "4",
               "commands ahead that they are fetched"},
              &C::activationLoadingHorizon, 1),
      {{"activation_checkpointing", "mode, or object by module path", "none",
        "none, each, contiguous or group_N"},
       readCheckpointing,
       writeCheckpointing},
  };
}

static std::vector<KeyBinding> trainingKeys() {
  using C = Config;
  return {
      boolean({"drop_last", "bool", "false",
               "leave a ragged last batch out instead of padding it"},
              &C::dropLast),
      boolean({"ddp", "bool", "none", "accepted, needs no switch"}, &C::ddp),
      boolean({"horovod", "bool", "none", "accepted, needs no switch"},
              &C::horovod),
      {{"seed", "integer", "0", "key of all random numbers"},
       readSeed,
       [](const Config &config) { return json(config.seed); }},
      {{"optimizer", "name or object", "adamw",
        "adamw, adam or sgd with lr, betas, eps, weight_decay, momentum"},
       readOptimizer,
       writeOptimizer},
      {{"lr_schedule", "name or object", "constant",
        "constant, linear or cosine with warmup_steps, total_steps, min_lr"},
       readRates,
       writeRates},
      number({"gradient_clipping", "number", "off", "global norm limit"},
             &C::gradientClipping, std::numeric_limits<double>::min(),
             std::numeric_limits<double>::max(), "above 0"),
      {{"loss_scale", "number, dynamic or object", "dynamic with fp16, else 1",
        "scaling of the loss before backward"},
       readLossScale,
       writeLossScale},
  };
}

std::span<const KeyBinding> detail::keyBindings() {
  static const std::vector<KeyBinding> all = [] {
    std::vector<KeyBinding> keys;
    for (auto part : {layoutKeys, partitionKeys, memoryKeys, trainingKeys})
      for (KeyBinding &key : part())
        keys.push_back(std::move(key));
    return keys;
  }();
  return all;
}

std::span<const ConfigKey> smp::configKeys() {
  static const std::vector<ConfigKey> all = [] {
    std::vector<ConfigKey> keys;
    for (const KeyBinding &binding : keyBindings())
      keys.push_back(binding.help);
    return keys;
  }();
  return all;
}

const KeyBinding *detail::findKey(std::string_view name) {
  for (const KeyBinding &key : keyBindings())
    if (key.help.name == name)
      return &key;
  return nullptr;
}

std::string_view detail::resolveAlias(std::string_view name) {
  if (name == "partitions")
    return "pipeline_parallel_degree";
  if (name == "backward_passes_per_step")
    return "gradient_accumulation";
  return name;
}

const OldKey *detail::findOldKey(std::string_view name) {
  static constexpr OldKey keys[] = {
      {"deterministic_server", "every run is deterministic", false},
      {"skip_tracing", "no tracing happens, the graph is exported", false},
      {"trace_device", "no tracing happens, the graph is exported", false},
      {"fp16_params", "parameters follow 'fp16'", false},
      {"ddp_port", "ranks connect by their transport", false},
      {"ddp_dist_backend", "ranks connect by their transport", false},
      {"fast_mode", "it was never publicly defined", true},
      {"static_mode", "it was never publicly defined", true}};
  for (const OldKey &key : keys)
    if (key.name == name)
      return &key;
  return nullptr;
}
