//===- RankBoard.h - What the ranks of a host share -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to comm. Plain words in shared memory, each stored atomically, which
// a signal handler can read.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_COMM_RANKBOARD_H
#define SMP_RUNTIME_LIB_COMM_RANKBOARD_H

#include "smp/runtime/Comm/Comm.h"
#include <atomic>

namespace smp::runtime {

/// A rank, on the board.
struct BoardEntry {
  std::atomic<int32_t> process; ///< 0: on another host
  std::atomic<int32_t> isOver;  ///< it leaves in order
  std::atomic<uint64_t> beats;
};

/// Zero at the start; never unmapped.
struct RankBoard {
  /// Why the job ends, as the first survivor saw it; 0: it does not. What
  /// follows from that end is no cause.
  std::atomic<int32_t> cause;
  BoardEntry ranks[];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// A board of this process alone, for as long as there is no common one; null
/// without memory.
RankBoard *makeOwnBoard(int ranks);

/// Makes the board of each host, with the processes of its ranks: the lowest
/// one creates it, the others open its descriptor, so nothing is left behind
/// whatever happens. Waiting: all ranks call it. Null without shared memory.
Result<RankBoard *> connectBoard(Comm &comm);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_COMM_RANKBOARD_H
