//===- Config.h - The configuration of a training job -----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One object of parameters, read from JSON and overridden by flags of the same
// names. Reading checks everything that can be checked without a model: names,
// types, ranges, combinations. What is valid but not built yet is refused by
// `checkSupported`, apart, because the grid alone (--print-ranks) accepts it.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_CONFIG_H
#define SMP_SUPPORT_CONFIG_H

#include "smp/Support/Result.h"
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smp {

enum class PipelineSchedule {
  Interleaved,
  Simple,
  OneFOneB,
  Looped,
  ZeroBubble
};
enum class OptimizeFor { Memory, Speed };
enum class LossNormalization { Step, Microbatch, Sum };
enum class OptimizerKind { AdamW, Adam, SGD };
enum class RateSchedule { Constant, Linear, Cosine };
enum class Target { CPU, CUDA };

std::string_view name(PipelineSchedule value); ///< "1f1b", "zero-bubble", ...
std::string_view name(OptimizeFor value);
std::string_view name(LossNormalization value);
std::string_view name(OptimizerKind value);
std::string_view name(RateSchedule value);
std::string_view name(Target value);

struct OptimizerGroup {
  /// Regular expression (ECMAScript) that matches a part of a name.
  std::string match;
  std::optional<double> weightDecay, lrScale;
  bool frozen = false;
  bool operator==(const OptimizerGroup &) const = default;
};

/// Defaults are PyTorch's.
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::AdamW;
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weightDecay = 0.01; ///< 0 unless adamw
  double momentum = 0;       ///< sgd
  std::vector<OptimizerGroup> groups;
  bool operator==(const OptimizerConfig &) const = default;
};

/// Whether the group's expression matches a part of one of the names.
bool matchesAny(const OptimizerGroup &group,
                std::span<const std::string> names);
/// The first group that matches one of a parameter's names; null if none does.
const OptimizerGroup *groupOf(const OptimizerConfig &optimizer,
                              std::span<const std::string> names);

struct RateConfig {
  RateSchedule kind = RateSchedule::Constant;
  int64_t warmupSteps = 0;
  std::optional<int64_t> totalSteps; ///< default: the steps of the run
  double minLr = 0;
  bool operator==(const RateConfig &) const = default;
};

struct LossScaleConfig {
  bool dynamic = false;
  double initScale = 1; ///< the scale itself when static
  double scaleFactor = 2;
  int64_t scaleWindow = 1000;
  double minScale = 1;
  int64_t delayedShift = 1;
  bool consecutiveHysteresis = false;
  bool operator==(const LossScaleConfig &) const = default;
};

/// A module path's value, where it is yes/no or a named choice.
using ModuleChoice = std::variant<bool, std::string>;

/// The fields carry the names of the keys, in camel case.
struct Config {
  int64_t pipelineParallelDegree = 1;
  int64_t tensorParallelDegree = 1;
  int64_t microbatches = 1;
  std::optional<int64_t> batchSize, sequenceLength;
  int64_t gradientAccumulation = 1;
  LossNormalization lossNormalization = LossNormalization::Step;
  std::optional<int64_t> activeMicrobatches;
  PipelineSchedule pipeline = PipelineSchedule::Interleaved;
  OptimizeFor optimize = OptimizeFor::Memory;
  std::string placementStrategy = "DPT"; ///< always the permutation
  bool autoPartition = true;
  std::optional<int64_t> defaultPartition;
  std::map<std::string, int64_t> assignment;
  std::optional<std::string> pipelineLayout;
  bool contiguous = true;
  std::optional<double> memoryWeight;
  bool prescaledBatch = false;
  std::map<std::string, ModuleChoice> tensorParallelism;
  bool dropLast = false;
  std::optional<bool> ddp, horovod;
  bool shardOptimizerState = false;
  int64_t shardedDataParallelDegree = 1;
  int64_t sdpReduceBucketSize = 500'000'000;
  int64_t sdpParamPersistenceThreshold = 1'000'000;
  int64_t sdpMaxLiveParameters = 1'000'000'000;
  bool sdpHierarchicalAllgather = true;
  double sdpGradientClipping = 1.0;
  bool fp16 = false, bf16 = false;
  bool offloadActivations = false;
  int64_t activationLoadingHorizon = 4;
  bool loadPartition = false;
  std::optional<std::string> partitionFile;
  /// Module path → none, each, contiguous, group_N; "" is the whole model.
  std::map<std::string, std::string> activationCheckpointing;
  uint64_t seed = 0;
  OptimizerConfig optimizer;
  RateConfig lrSchedule;
  std::optional<double> gradientClipping;
  std::optional<LossScaleConfig> lossScale;
  std::optional<int64_t> memoryLimit; ///< bytes
  std::optional<std::string> machine, plan;
  std::string partitioner = "default";
  Target target = Target::CPU;

  bool operator==(const Config &) const = default;

  /// `memory_weight`, or its default for `optimize`.
  double effectiveMemoryWeight() const {
    return memoryWeight                     ? *memoryWeight
           : optimize == OptimizeFor::Speed ? 0.2
                                            : 0.8;
  }
  /// The loss scaling that is in force.
  LossScaleConfig effectiveLossScale() const;
};

struct ParsedConfig {
  Config config;
  /// Keys that were accepted but have no effect, each with its reason.
  std::vector<std::string> notes;
};

/// Reads a configuration: `json` (may be empty) is the text of an object,
/// `flags` are "--key=value", later ones win. Dashes in keys mean underscores;
/// a flag without value means true; `--optimizer.lr=1e-3` sets one field of an
/// object; values that are no JSON are strings.
Result<ParsedConfig> parseConfig(std::string_view json,
                                 std::span<const std::string> flags = {});

/// Refuses, by name, what is valid but not built yet.
Status checkSupported(const Config &config);

/// What `checkSupported` wants of a key as yet, for the help; none for most.
std::optional<std::string> limitOf(std::string_view key);

/// All keys with their effective values; keys without a value are left out.
/// parseConfig(toJson(c).dump()) gives c again.
nlohmann::json toJson(const Config &config);

/// One line of the help of every tool that takes these flags.
struct ConfigKey {
  std::string_view name, type, defaultValue, meaning;
};
std::span<const ConfigKey> configKeys();

/// Whether a command-line argument ("--microbatches=4") names a key, so that a
/// tool can tell these flags from its own.
bool isConfigFlag(std::string_view argument);

} // namespace smp

#endif // SMP_SUPPORT_CONFIG_H
