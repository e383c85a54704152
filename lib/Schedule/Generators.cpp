//===- Generators.cpp - The built-in schedules ----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/Generators.h"

#include "Dependences.h"

#include <algorithm>
#include <array>
#include <limits>

namespace smp::schedule {

static constexpr std::array<std::string_view, 3> kindNames = {"simple", "1f1b",
                                                              "interleaved"};

std::string_view scheduleName(ScheduleKind kind) {
  return kindNames[static_cast<size_t>(kind)];
}

std::optional<ScheduleKind> parseScheduleKind(std::string_view name) {
  for (size_t i = 0; i < kindNames.size(); ++i)
    if (kindNames[i] == name)
      return static_cast<ScheduleKind>(i);
  return std::nullopt;
}

/// Number of distinct ranks that own chunks c, c + 1, ...: the fewest
/// microbatches in flight at c that can keep all of them busy.
static std::vector<int64_t> depths(const ChunkGraph &graph) {
  std::vector<int64_t> depth(graph.chunks.size());
  std::vector<bool> seen(graph.ranks);
  int64_t distinct = 0;
  for (size_t c = graph.chunks.size(); c-- > 0;) {
    if (!seen[graph.chunks[c].rank])
      ++distinct;
    seen[graph.chunks[c].rank] = true;
    depth[c] = distinct;
  }
  return depth;
}

namespace {

/// List scheduling in units of time: a rank that is free takes, of the steps
/// whose inputs are there and that the schedule's rule admits, a backward
/// before a forward and then the lowest microbatch. Each chunk goes through its
/// microbatches in ascending order, which fixes the order of accumulation.
class ListScheduler {
public:
  ListScheduler(const ChunkGraph &graph, ScheduleKind kind,
                int64_t microbatches, std::vector<int64_t> limit)
      : graph(graph), kind(kind), microbatches(microbatches),
        limit(std::move(limit)), dependences(graph),
        finish(static_cast<int>(graph.chunks.size()), microbatches),
        forwards(graph.chunks.size()), backwards(graph.chunks.size()),
        busyUntil(graph.ranks), order(graph.ranks) {}

  Order run() {
    // Time ends: each round either starts a step or moves to the end of one,
    // and the rules never leave all ranks idle before the last step.
    for (int64_t time = 0; time != std::numeric_limits<int64_t>::max();) {
      for (int rank = 0; rank < graph.ranks; ++rank)
        if (busyUntil[rank] <= time)
          if (std::optional<Step> step = choose(rank, time))
            start(rank, *step, time);
      int64_t next = std::numeric_limits<int64_t>::max();
      for (int64_t end : busyUntil)
        if (end > time)
          next = std::min(next, end);
      time = next;
    }
    return std::move(order);
  }

private:
  bool has(int chunk, Program program) const {
    return graph.chunks[chunk].programs.contains(program);
  }

  /// A chunk without backward holds nothing between its steps.
  int64_t inFlight(int chunk) const {
    return has(chunk, Program::Backward) ? forwards[chunk] - backwards[chunk]
                                         : 0;
  }

  bool allForwardsDone(int rank) const {
    for (size_t c = 0; c < graph.chunks.size(); ++c)
      if (graph.chunks[c].rank == rank &&
          has(static_cast<int>(c), Program::Forward) &&
          forwards[c] < microbatches)
        return false;
    return true;
  }

  /// The rule of the schedule.
  bool admits(Program program, int chunk) const {
    bool room =
        forwards[chunk] < microbatches && inFlight(chunk) < limit[chunk];
    if (program == Program::Forward)
      return room;
    if (kind == ScheduleKind::Simple)
      return allForwardsDone(graph.chunks[chunk].rank);
    // 1f1b fills up to its limit first, whether or not a backward could run.
    return kind != ScheduleKind::OneFOneB || !room;
  }

  bool runnable(const Step &step, int64_t time) const {
    if (step.microbatch >= microbatches || !has(step.chunk, step.program) ||
        !admits(step.program, step.chunk))
      return false;
    for (Dependence before : dependences.of(step.program, step.chunk)) {
      int64_t end = finish.get({before.program, before.chunk, step.microbatch});
      if (end == FinishTimes::never || end > time)
        return false;
    }
    return true;
  }

  std::optional<Step> choose(int rank, int64_t time) const {
    for (Program program : {Program::Backward, Program::Forward}) {
      std::optional<Step> best;
      for (int c = 0; c < static_cast<int>(graph.chunks.size()); ++c) {
        if (graph.chunks[c].rank != rank)
          continue;
        Step step = {program, c,
                     program == Program::Forward ? forwards[c] : backwards[c]};
        if (runnable(step, time) &&
            (!best || step.microbatch < best->microbatch))
          best = step;
      }
      if (best)
        return best;
    }
    return std::nullopt;
  }

  void start(int rank, const Step &step, int64_t time) {
    busyUntil[rank] = time + duration(step.program);
    finish.set(step, busyUntil[rank]);
    order[rank].push_back(step);
    ++(step.program == Program::Forward ? forwards : backwards)[step.chunk];
  }

  const ChunkGraph &graph;
  ScheduleKind kind;
  int64_t microbatches;
  std::vector<int64_t> limit;
  Dependences dependences;
  FinishTimes finish;
  std::vector<int64_t> forwards, backwards, busyUntil;
  Order order;
};

} // namespace

/// Microbatches that each chunk may hold, or an error when fewer are allowed
/// than the schedule needs.
static Result<std::vector<int64_t>> limits(const ChunkGraph &graph,
                                           const ScheduleOptions &options) {
  int64_t microbatches = options.microbatches;
  std::vector<int64_t> limit = depths(graph);
  for (int64_t &entry : limit)
    entry = options.kind == ScheduleKind::Simple
                ? microbatches
                : std::min(entry, microbatches);
  int64_t most = *std::ranges::max_element(limit);
  int64_t needed = options.kind == ScheduleKind::Interleaved ? 1 : most;
  int64_t active = options.activeMicrobatches.value_or(
      options.kind == ScheduleKind::Interleaved ? graph.ranks + 2 : most);
  if (active < needed)
    return Error{"expects 'active_microbatches' to be at least " +
                     std::to_string(needed) + " for pipeline '" +
                     std::string(scheduleName(options.kind)) + "' with " +
                     std::to_string(microbatches) + " microbatches, got " +
                     std::to_string(active),
                 "pipeline 'interleaved' runs with any number from 1 on"};
  for (int64_t &entry : limit)
    entry = std::min(entry, active);
  return limit;
}

Result<Order> generateOrder(const ChunkGraph &graph,
                            const ScheduleOptions &options) {
  SMP_RETURN_IF_ERROR(verify(graph));
  if (options.microbatches < 1)
    return Error{"expects 'microbatches' to be at least 1, got " +
                 std::to_string(options.microbatches)};
  for (const Chunk &chunk : graph.chunks)
    if (chunk.programs.contains(Program::Weight))
      return Error{"expects chunks without a separate weight program for "
                   "pipeline '" +
                   std::string(scheduleName(options.kind)) + "', got one"};
  SMP_ASSIGN_OR_RETURN(std::vector<int64_t> limit, limits(graph, options));
  return ListScheduler(graph, options.kind, options.microbatches,
                       std::move(limit))
      .run();
}

Result<std::vector<int64_t>> stageInFlight(int stages,
                                           const ScheduleOptions &options) {
  if (stages < 1)
    return Error{"expects at least 1 stage, got " + std::to_string(stages)};
  std::vector<int> rankOfChunk(stages);
  for (int stage = 0; stage < stages; ++stage)
    rankOfChunk[stage] = stage;
  ChunkGraph graph = makeChain(rankOfChunk);
  SMP_ASSIGN_OR_RETURN(Order order, generateOrder(graph, options));
  return inFlightByRank(graph, order);
}

} // namespace smp::schedule
