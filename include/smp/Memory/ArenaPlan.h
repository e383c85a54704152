//===- ArenaPlan.h - Offsets of buffers in one arena ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives every buffer of a linear list of commands an offset such that buffers
// that are live at the same time do not overlap. Finding the smallest arena is
// NP-hard (dynamic storage allocation); several greedy orders are tried, then
// the buffers that stick out are moved to the front of the best one, until the
// size meets the lower bound or nothing helps any more. Deterministic.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_MEMORY_ARENAPLAN_H
#define SMP_MEMORY_ARENAPLAN_H

#include <cstdint>
#include <span>
#include <vector>

namespace smp::memory {

/// Live from its first write up to and including its last read, counted in
/// commands: two buffers of which one is read and the other written by the same
/// command do not share a byte.
struct LiveBuffer {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets; ///< multiples of the alignment
  int64_t bytes = 0;            ///< a multiple of the alignment
  /// Most bytes live at one command, each buffer rounded up: no plan is
  /// smaller.
  int64_t lowerBound = 0;
};

ArenaPlan planArena(std::span<const LiveBuffer> buffers,
                    int64_t alignment = 256);

/// `bytes` rounded up to a multiple of `alignment`.
inline int64_t alignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace smp::memory

#endif // SMP_MEMORY_ARENAPLAN_H
