//===- Order.h - What each pp rank computes, in order -----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the computations of each pp rank, before transfers and slots
// are added. An order says everything about a schedule that is a decision; the
// rest follows (`Lowering.h`).
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_ORDER_H
#define SMP_SCHEDULE_ORDER_H

#include "smp/Schedule/ChunkGraph.h"

namespace smp::schedule {

/// One launch of one program. Rank programs have chunk -1 and microbatch 0.
struct Step {
  Program program = Program::Forward;
  int chunk = 0;
  int64_t microbatch = 0;
  bool operator==(const Step &) const = default;
};

/// "forward of chunk 1, microbatch 3".
std::string describe(const Step &step);

/// For each pp rank its launches, first to last.
using Order = std::vector<std::vector<Step>>;

/// `order` repeated for `accumulation` batches of `microbatches`, microbatch
/// indices continuing.
Order repeat(const Order &order, int64_t accumulation, int64_t microbatches);

/// Puts the launches of a whole step around the forwards and backwards: first
/// the counts of all microbatches, then `BeginStep`; at the end `Update`.
Order addStepPrograms(const ChunkGraph &graph, const Order &order,
                      int64_t microbatches);

/// One forward-only pass of `program` (`Evaluate` or `Predict`).
Order forwardOrder(const ChunkGraph &graph, Program program,
                   int64_t microbatches);

/// When each launch would run, were a backward worth two forwards and a
/// transfer nothing. Not a prediction: one global order that the rank orders
/// agree with, which lowering uses to choose slots.
struct Timeline {
  /// By rank and position in the order.
  std::vector<std::vector<int64_t>> start, end;
};

/// Runs the orders on all ranks. Fails, with the two steps that wait for each
/// other, when data dependences and rank orders contradict.
Result<Timeline> replay(const ChunkGraph &graph, const Order &order);

/// Most microbatches in flight at once: from the first forward to the last
/// backward or weight of a microbatch on that chunk or rank.
std::vector<int64_t> inFlightByChunk(const ChunkGraph &graph,
                                     const Order &order);
std::vector<int64_t> inFlightByRank(const ChunkGraph &graph,
                                    const Order &order);

/// The first step that accumulates a gradient out of ascending microbatch
/// order, as an error; such a schedule is valid but loses bit-equality.
Status checkAscending(const Order &order);

} // namespace smp::schedule

#endif // SMP_SCHEDULE_ORDER_H
