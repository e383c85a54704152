//===- Checkpoint.h - Saving and resuming -----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A partial checkpoint is a folder `${tag}_partial` with one safetensors file
// of parameters and one of optimizer state per model coordinate, a manifest
// that says where every tensor is and hashes every MiB, the plan, and what the
// caller adds. It is written beside, synced and renamed, so that a crash at
// any moment leaves the previous one whole.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define SMP_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "smp/Support/Grid.h"
#include "smp/Support/Safetensors.h"
#include "smp/runtime/Comm/Comm.h"
#include <set>
#include <utility>

namespace smp::runtime {

/// Where training stands.
struct Progress {
  int64_t step = 0;    ///< steps done
  int64_t samples = 0; ///< samples consumed
  uint64_t seed = 0;
  int64_t skipped = 0; ///< of the steps, those that made no update
  bool operator==(const Progress &) const = default;
};

struct SaveRequest {
  std::string directory, tag;
  Progress progress;
  /// What this rank is the first holder of: parameters and states under their
  /// names. Ignored on ranks with rdp_rank > 0, whose values are the same.
  std::vector<TensorView> model;
  /// Optimizer state, named `<parameter>.<state>`.
  std::vector<TensorView> optimizer;
  std::string plan = "{}";        ///< content of partition.json
  std::string userContent = "{}"; ///< a JSON object
  int keep = 0;                   ///< newest partials kept; 0: all
};

/// Writes `${tag}_partial` and commits it as newest. All ranks call it; on
/// return it is durable.
Status saveCheckpoint(Comm &comm, const Grid &grid, const SaveRequest &request);

/// Where a tensor of the checkpoint goes. Type and shape must be those saved.
struct LoadTarget {
  std::string name;
  DataType type = DataType::F32;
  std::vector<int64_t> shape;
  void *data = nullptr;
};

struct ResumeRequest {
  std::string directory;
  std::string tag; ///< empty: the newest; falls back to the last good one
  std::vector<LoadTarget> model, optimizer; ///< all that this rank holds
  /// What all ranks hold: a checkpoint with more is one of another model, or
  /// optimizer. Not compared where there are no names.
  std::set<std::string> modelNames = {}, optimizerNames = {};
  /// Parameters whose optimizer state, which they had before, is not needed.
  std::set<std::string> frozen = {};
};

struct Resumed {
  Progress progress;
  std::string tag, plan, userContent;
  /// Why newer checkpoints were passed over, each with file and tensor.
  std::vector<std::string> notes;
};

/// Reads the newest good partial checkpoint (all ranks the same one). All
/// ranks call it. Another layout is an error that says both.
Result<Resumed> resumeCheckpoint(Comm &comm, const Grid &grid,
                                 const ResumeRequest &request);

/// Whether `directory` holds a committed partial checkpoint.
bool hasCheckpoint(const std::string &directory);

/// A run's claim on its folder of checkpoints; two runs there would exchange
/// each other's files. It ends with the object, or with the process.
class CheckpointClaim {
public:
  /// Makes the folder if need be, and sees that it can be written.
  static Result<CheckpointClaim> take(const std::string &directory);
  CheckpointClaim(CheckpointClaim &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)) {}
  CheckpointClaim &operator=(CheckpointClaim &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~CheckpointClaim();

private:
  explicit CheckpointClaim(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_CHECKPOINT_CHECKPOINT_H
