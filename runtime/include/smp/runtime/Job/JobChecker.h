//===- JobChecker.h - Conflicting accesses are ordered ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor starts actions and commands in any order that their waits and
// queues allow (Executor.h lists the rules). This checker builds that relation
// for one step of one rank and reports accesses of overlapping bytes, at least
// one of them a write, that it leaves unordered. A wait that can be deleted
// without a report is redundant. The compiler runs it on every job it writes.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_JOB_JOBCHECKER_H
#define SMP_RUNTIME_JOB_JOBCHECKER_H

#include "smp/Support/Result.h"
#include "smp/runtime/Job/Job.h"

namespace smp::runtime {

/// One side of a conflict.
struct AccessPoint {
  unsigned action = 0;
  int command = -1; ///< within the launched program; -1: a transfer or load
  bool write = false;
  bool operator==(const AccessPoint &) const = default;
};

/// Two accesses that may happen in either order, or at once.
struct Conflict {
  AccessPoint first, second; ///< in list order
  unsigned arena = 0;
  int64_t offset = 0, bytes = 0; ///< what both touch

  /// "rank 0: action 2 ('forward' of chunk 0) command 3 writes and action 2 ...
  /// reads 64 bytes at offset 0 of arena 'stash.c0' in no order".
  std::string str(const Job &job, const RankJob &rankJob,
                  const Schedule &schedule) const;
};

/// The unordered conflicts of `schedule`; empty when there is none. Each value
/// is compared with the one before it in list order and with its own readers:
/// where all of these are ordered, so are all others. Conflicts inside a
/// program are reported once, at its first launch.
std::vector<Conflict> findConflicts(const Job &job, const RankJob &rankJob,
                                    const Schedule &schedule);

/// Reads what each rank of a job executes and looks at all of its schedules;
/// the error is the first conflict, "expects waits that order all accesses, got
/// rank 0: ...", or that of a file that cannot be read.
Status checkOrder(const Job &job);

} // namespace smp::runtime

#endif // SMP_RUNTIME_JOB_JOBCHECKER_H
