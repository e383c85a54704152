//===- Checker.h - Proof that a schedule runs and is correct ----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the action lists of all ranks without knowing how they were made.
//
// Execution model, the strictest that the runtime may have. Launches of a rank
// form one queue, loads another, transfers one per peer and direction. An
// action starts when it is the head of its queue and its waits are complete.
// The k-th send of a channel meets the k-th receive; both complete together,
// once both have started. `BeginStep` and `Update` may hold collectives over
// ranks: they complete when all ranks have started theirs.
//
// What may happen only grows as actions complete, so all executions reach the
// same end: one simulation to the fixpoint decides whether any execution can
// block. Slots are checked under the weakest model, where only waits and
// meeting transfers order anything: a slot is sound when every access is
// ordered, on every execution, against each one that it conflicts with.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_CHECKER_H
#define SMP_SCHEDULE_CHECKER_H

#include "smp/Schedule/Lowering.h"

#include <optional>
#include <span>

namespace smp::schedule {

/// The list of one rank and the arenas its slots refer to.
struct RankList {
  std::span<const Action> actions;
  std::span<const SlottedArena> arenas;
};

struct ActionRef {
  int rank = 0;
  int action = 0;
  bool operator==(const ActionRef &) const = default;
};

/// Actions that wait for each other: each for the next, the last for the first.
struct Deadlock {
  std::vector<ActionRef> cycle;
};

/// Lists that are not well formed at all: an index out of range, a wait for an
/// action that does not exist, a channel whose two sides disagree on what comes
/// k-th, slots that a launch lacks.
Status checkStructure(const ChunkGraph &graph,
                      const std::vector<RankList> &lists);

/// Nothing when every execution ends. Requires `checkStructure`.
std::optional<Deadlock> findDeadlock(const std::vector<RankList> &lists);

/// Every read of a slot sees the value of its microbatch, and nothing writes a
/// slot that is still to be read. Launches of a rank must be ordered too: they
/// share workspace and gradients. Requires that there is no deadlock.
Status checkSlots(const ChunkGraph &graph, const std::vector<RankList> &lists);

/// What a schedule is for.
enum class Pass : uint8_t { Train, Evaluate, Predict };

/// Each program of the pass runs exactly once for each of `microbatches`; in a
/// training step counts come first on each rank, then `BeginStep`, `Update`
/// last. No other order is looked at: slots imply it.
Status checkCoverage(const ChunkGraph &graph,
                     const std::vector<RankList> &lists, Pass pass,
                     int64_t microbatches);

/// All of the above: structure, deadlock, slots, coverage. The error of a
/// deadlock names rank, action and microbatch of every action of the cycle.
Status checkSchedule(const ChunkGraph &graph,
                     const std::vector<RankList> &lists, Pass pass,
                     int64_t microbatches);

/// Checks `train`, `evaluate` and `predict` of a job. `microbatches` is that of
/// one batch, as in `lowerSchedules`.
Status checkSchedules(const ChunkGraph &graph,
                      const std::vector<RankSchedules> &ranks,
                      int64_t microbatches, int64_t accumulation);

/// Bytes of the slotted arenas of one rank, given the stride of each, against a
/// limit.
Status checkMemory(const ChunkGraph &graph, int rank,
                   std::span<const SlottedArena> arenas,
                   std::span<const int64_t> strides, int64_t limit);

/// One sentence for a deadlock, and the whole cycle as its note.
Error describe(const ChunkGraph &graph, const std::vector<RankList> &lists,
               const Deadlock &deadlock);

} // namespace smp::schedule

#endif // SMP_SCHEDULE_CHECKER_H
