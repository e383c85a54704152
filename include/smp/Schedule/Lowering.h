//===- Lowering.h - From orders to transfers, slots and waits ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the order of each rank into its list of actions: launches, transfers
// and loads, each with the slots it uses and the actions it waits for. The
// result has the fields of the job format's schedules; only the mapping of the
// rank's slotted arenas to indices of the job is left to the caller.
//
//   order of rank 1:  F0 B0            (two ranks, one microbatch)
//   actions:          0 recv act.c0-c1 mb 0, slot 0
//                     1 load labels mb 0, slot 0
//                     2 launch forward c1 mb 0, waits [0, 1]
//                     3 launch backward c1 mb 0, waits [2]
//                     4 send cot.c1-c0 mb 0, waits [3]
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_LOWERING_H
#define SMP_SCHEDULE_LOWERING_H

#include "smp/Schedule/Order.h"

namespace smp::schedule {

enum class ActionKind : uint8_t { Launch, Send, Recv, Load };

/// A slot of a slotted arena; `arena` counts in `RankSchedules::arenas`.
struct SlotUse {
  int arena = 0;
  int64_t slot = 0;
  bool operator==(const SlotUse &) const = default;
};

/// An entry of a rank's schedule. Its id is its index in the list.
struct Action {
  ActionKind kind = ActionKind::Launch;
  Program program = Program::Forward; ///< launch
  int chunk = -1;                     ///< launch; -1 for rank programs
  int64_t microbatch = 0;
  int peer = -1;                   ///< send, recv: pp rank
  int edge = -1;                   ///< send, recv: index of the edge, the tag
  int input = -1;                  ///< load
  std::vector<SlotUse> slots = {}; ///< exactly one for send, recv and load
  std::vector<int> waits = {};     ///< ids of actions of this rank, ascending
};

/// "send of edge 'act.c0-c1', microbatch 2".
std::string describe(const ChunkGraph &graph, const Action &action);

/// A slotted arena of one rank and the slots that its schedules need.
struct SlottedArena {
  ArenaKey key;
  int64_t slots = 0;
};

struct RankSchedules {
  std::vector<SlottedArena> arenas; ///< those of `train` first, by key
  std::vector<Action> train, evaluate, predict;
};

struct LoweringOptions {
  /// One more slot where it lets a transfer or a load run beside a launch.
  /// Without it, slots are the fewest that the order allows.
  bool overlap = true;
};

/// Lowers one schedule of all ranks: `order` is complete (it has its counts,
/// `BeginStep` and `Update` if it wants them). Appends arenas that are new to
/// `arenas` (by rank) and raises the slot counts of the others.
Result<std::vector<std::vector<Action>>>
lowerOrder(const ChunkGraph &graph, const Order &order,
           const LoweringOptions &options,
           std::vector<std::vector<SlottedArena>> &arenas);

/// All schedules of a job: `train` is the order of one batch of `microbatches`,
/// run `accumulation` times a step; `evaluate` passes `microbatches` and
/// `predict` one. A graph where no chunk has the program leaves its list empty.
Result<std::vector<RankSchedules>>
lowerSchedules(const ChunkGraph &graph, const Order &train,
               int64_t microbatches, int64_t accumulation,
               const LoweringOptions &options = {});

} // namespace smp::schedule

#endif // SMP_SCHEDULE_LOWERING_H
