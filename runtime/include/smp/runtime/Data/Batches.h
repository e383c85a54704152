//===- Batches.h - The batches of an epoch ----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An epoch of n samples has batches of P; the last one has what remains, or is
// left out. Positions count samples since step 0, n an epoch, so they say where
// a run stands whatever its batches were:
//
//   n = 10, P = 4      batches at 0 4 8 | 10 14 18 |, of 4 4 2 | 4 4 2 | rows
//   and left out       batches at 0 4   | 10 14    |, of 4 4   | 4 4   |
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DATA_BATCHES_H
#define SMP_RUNTIME_DATA_BATCHES_H

#include <cstdint>

namespace smp::runtime {

/// Rows of one step, in the order of the epoch.
struct Batch {
  int64_t position = 0; ///< of its first sample
  int64_t rows = 0;     ///< samples, at most as many as a step takes
  bool operator==(const Batch &) const = default;
};

class Batches {
public:
  /// `samples` and `rows` are at least 1; with `dropLast` the samples are at
  /// least as many as the rows.
  Batches(int64_t samples, int64_t rows, bool dropLast)
      : samples(samples), rows(rows), dropLast(dropLast) {}

  /// The batch that is `count` >= 0 batches after the first one at `position`
  /// or after it.
  Batch after(int64_t position, int64_t count) const;

private:
  int64_t samples, rows;
  bool dropLast;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_DATA_BATCHES_H
