//===- Generators.h - The built-in schedules --------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// | name          | order on each rank                                       |
// |---------------|----------------------------------------------------------|
// | `simple`      | all forwards, then all backwards                         |
// | `1f1b`        | warm-up forwards, then one forward, one backward         |
// | `interleaved` | a backward as soon as one is runnable, else a forward    |
// |               | while fewer are in flight than ranks lie ahead           |
//
// All of them work for any map of chunks to ranks. `depth(c)`, the number of
// distinct ranks that own chunks c, c + 1, ..., is what a microbatch at chunk c
// still has before it; for one chunk a rank it is pp - stage. docs/Schedules.md
// has the proofs.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_GENERATORS_H
#define SMP_SCHEDULE_GENERATORS_H

#include "smp/Schedule/Order.h"

#include <optional>

namespace smp::schedule {

enum class ScheduleKind : uint8_t { Simple, OneFOneB, Interleaved };

/// "simple", "1f1b", "interleaved".
std::string_view scheduleName(ScheduleKind kind);
std::optional<ScheduleKind> parseScheduleKind(std::string_view name);

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::Interleaved;
  /// Microbatches of one batch (not times the accumulation).
  int64_t microbatches = 1;
  /// Batches of a step.
  int64_t accumulation = 1;
  /// The key `active_microbatches`, when given explicitly.
  std::optional<int64_t> activeMicrobatches = {};
};

/// Forwards and backwards of one batch. An error when an explicit
/// `active_microbatches` is smaller than the schedule needs.
Result<Order> generateOrder(const ChunkGraph &graph,
                            const ScheduleOptions &options);

/// Microbatches in flight on each of `stages` stages, one chunk a rank: what
/// partitioning needs to weigh activations before there are chunks.
Result<std::vector<int64_t>> stageInFlight(int stages,
                                           const ScheduleOptions &options);

} // namespace smp::schedule

#endif // SMP_SCHEDULE_GENERATORS_H
