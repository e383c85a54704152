//===- PartitionModule.h - Gives every op of a model its chunk -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_PARTITION_PARTITIONMODULE_H
#define SMP_PARTITION_PARTITIONMODULE_H

#include "smp/Partition/Assignment.h"
#include "smp/Partition/LinearPartition.h"
#include "smp/Sharding/Distribute.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace smp {

/// Attribute of a partitioned module: the pp rank of each chunk (dense array of
/// i64). The number of pp ranks is `kPipelineDegreeAttr`.
inline constexpr llvm::StringLiteral kChunkRanksAttr = "smp.chunks";

/// Where no batch of training is padded, as a ragged last one is left out
/// (`drop_last`). A unit attribute of the module.
inline constexpr llvm::StringLiteral kDropLastAttr = "smp.drop_last";

struct PartitionOptions {
  int64_t partitions = 1;
  double memoryWeight = 0.8;
  /// By stage: microbatches whose saved values are alive at once.
  std::vector<int64_t> inFlight;
  /// Module path -> partition. All of the model when `defaultPartition` is set,
  /// else pins of an automatic partition.
  std::map<std::string, int> assignment;
  std::optional<int> defaultPartition;
  /// Megatron's layout string, instead of an assignment.
  std::optional<std::string> layout;
  bool contiguous = true;
  /// Bytes of optimizer state for each parameter element.
  int64_t optimizerBytes = 8;
};

/// A plan: for the user, and for partition.json.
struct PartitionReport {
  struct Unit {
    std::string path;
    int64_t firstOp = 0; ///< number of its first op in the graph
    int chunk = 0;
  };
  std::vector<Unit> units;
  std::vector<int> rankOfChunk;
  std::vector<partition::StageCost> stages; ///< of an automatic plan
  std::optional<double> objective, bound;
  int64_t transferBytes = 0;
  std::vector<std::string> explanations;
};

/// Partitions `@train` of a specialised module; emits an error when it cannot.
llvm::FailureOr<PartitionReport>
partitionModule(mlir::ModuleOp module, const PartitionOptions &options);

/// Replaces `@train` and `@eval` of a partitioned module by the closed programs
/// of its chunks; emits an error when it cannot.
llvm::LogicalResult stageChunks(mlir::ModuleOp module);

} // namespace smp

#endif // SMP_PARTITION_PARTITIONMODULE_H
