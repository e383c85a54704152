//===- SampleOrder.h - Which sample stands at which position ----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DATA_SAMPLEORDER_H
#define SMP_RUNTIME_DATA_SAMPLEORDER_H

#include <cstdint>

namespace smp::runtime {

enum class DataOrder { Shuffled, File };

/// A sample of a data set. In file order `epoch` is −1.
struct Sample {
  int64_t index = 0;
  int64_t epoch = -1;
  bool padding = false; ///< fills a row, and weighs nothing
  bool operator==(const Sample &) const = default;
};

/// Sampling without replacement: each epoch is a keyed permutation, computed
/// for one position at a time (a Feistel network with cycle walking), so it
/// needs no memory and starts anywhere.
class SampleOrder {
public:
  /// `size` > 0 samples.
  SampleOrder(int64_t size, uint64_t seed);
  /// Samples in the order of the file, each epoch the same.
  static SampleOrder inFileOrder(int64_t size);

  int64_t size() const { return count; }
  /// The sample at `position`, which counts samples consumed since step 0.
  Sample at(int64_t position) const;

private:
  SampleOrder() = default;
  uint64_t permute(uint64_t value, uint64_t epoch) const;
  int64_t count = 1;
  uint64_t seed = 0;
  int halfBits = 1;
  bool shuffled = true;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_DATA_SAMPLEORDER_H
