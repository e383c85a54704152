//===- Manifest.h - Where every tensor of a checkpoint is -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to checkpoint. The manifest is what makes a folder a checkpoint: the
// layout that wrote it, every file with the hashes of its chunks, every tensor
// with its global shape, the slice that the file has, and its type.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_CHECKPOINT_MANIFEST_H
#define SMP_RUNTIME_LIB_CHECKPOINT_MANIFEST_H

#include "smp/Support/Grid.h"
#include "smp/Support/Json.h"
#include "smp/Support/Safetensors.h"
#include "smp/runtime/Checkpoint/Checkpoint.h"
#include <map>
#include <set>

namespace smp::runtime {

/// Bytes covered by one hash.
inline constexpr int64_t chunkBytes = 1 << 20;

/// More steps or samples than any run has; counting on from there is safe.
inline constexpr int64_t maxProgress = int64_t(1) << 60;

struct ManifestFile {
  int64_t bytes = 0;
  std::vector<uint64_t> hashes; ///< XXH64 of each chunk
};

struct ManifestTensor {
  std::string file;
  DataType type = DataType::F32;
  std::vector<int64_t> shape; ///< global
  /// [begin, end) per dim; whole here, since nothing is split over tp yet.
  std::vector<std::pair<int64_t, int64_t>> slice;
};

struct Manifest {
  int pp = 1, tp = 1, rdp = 1;
  std::string placement;
  Progress progress;
  std::map<std::string, ManifestFile> files;
  /// Parameters and states, and optimizer state, by name.
  std::map<std::string, ManifestTensor> model, optimizer;

  nlohmann::json toJson() const;
  static Result<Manifest> fromJson(const nlohmann::json &json);
};

/// The hashes of a file's chunks, from its bytes.
ManifestFile describeFile(std::span<const std::byte> bytes);

/// A file of a checkpoint, opened and checked against the manifest as far as
/// it is read.
class CheckedFile {
public:
  static Result<CheckedFile> open(const std::string &path,
                                  const ManifestFile &expected);
  /// The tensor, after the chunks it touches have been verified; an error
  /// names file and tensor.
  Result<const TensorView *> verified(const std::string &name);

private:
  SafetensorsFile file;
  MappedFile raw;
  ManifestFile expected;
  std::set<int64_t> good; ///< chunks verified before
};

/// Names within a checkpoint directory.
std::string partialName(const std::string &tag);
std::string modelFileName(int mp);
std::string optimizerFileName(int mp);

/// The content of `newest`: kind ("partial", "full") to tag.
std::map<std::string, std::string> readNewest(const std::string &directory);
Status writeNewest(const std::string &directory, const std::string &kind,
                   const std::string &tag);

/// Tags of committed partial checkpoints, newest (most steps) first.
std::vector<std::string> partialTags(const std::string &directory);

/// What looks like a checkpoint there and is none, as notes.
std::vector<std::string> passedOver(const std::string &directory);

/// Makes the entries of a directory durable.
Status syncDirectory(const std::string &path);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_CHECKPOINT_MANIFEST_H
