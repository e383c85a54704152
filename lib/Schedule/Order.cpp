//===- Order.cpp - What each pp rank computes, in order -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/Order.h"

#include "Dependences.h"

#include <algorithm>
#include <map>

namespace smp::schedule {

std::string describe(const Step &step) {
  std::string name(programName(step.program));
  if (isRankProgram(step.program))
    return name;
  return name + " of chunk " + std::to_string(step.chunk) + ", microbatch " +
         std::to_string(step.microbatch);
}

Order repeat(const Order &order, int64_t accumulation, int64_t microbatches) {
  Order repeated(order.size());
  for (size_t rank = 0; rank < order.size(); ++rank)
    for (int64_t a = 0; a < accumulation; ++a)
      for (Step step : order[rank]) {
        step.microbatch += a * microbatches;
        repeated[rank].push_back(step);
      }
  return repeated;
}

Order addStepPrograms(const ChunkGraph &graph, const Order &order,
                      int64_t microbatches) {
  Order whole(order.size());
  for (int64_t m = 0; m < microbatches; ++m)
    for (size_t c = 0; c < graph.chunks.size(); ++c)
      if (graph.chunks[c].programs.contains(Program::Count))
        whole[graph.chunks[c].rank].push_back(
            {Program::Count, static_cast<int>(c), m});
  for (size_t rank = 0; rank < order.size(); ++rank) {
    whole[rank].push_back({Program::BeginStep, -1, 0});
    whole[rank].insert(whole[rank].end(), order[rank].begin(),
                       order[rank].end());
    whole[rank].push_back({Program::Update, -1, 0});
  }
  return whole;
}

Order forwardOrder(const ChunkGraph &graph, Program program,
                   int64_t microbatches) {
  Order order(graph.ranks);
  for (int64_t m = 0; m < microbatches; ++m)
    for (size_t c = 0; c < graph.chunks.size(); ++c)
      if (graph.chunks[c].programs.contains(program))
        order[graph.chunks[c].rank].push_back(
            {program, static_cast<int>(c), m});
  return order;
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

namespace {

class Replay {
public:
  Replay(const ChunkGraph &graph, const Order &order)
      : graph(graph), order(order), dependences(graph), finish(graph, order),
        position(order.size()), now(order.size()) {}

  Result<Timeline> run() {
    timeline.start.resize(order.size());
    timeline.end.resize(order.size());
    bool moved = true;
    while (moved) {
      moved = passBarrier();
      for (size_t rank = 0; rank < order.size(); ++rank)
        while (runHead(rank))
          moved = true;
    }
    for (size_t rank = 0; rank < order.size(); ++rank)
      if (const Step *step = head(rank))
        return blocked(static_cast<int>(rank), *step);
    return std::move(timeline);
  }

private:
  const Step *head(size_t rank) const {
    return position[rank] < order[rank].size() ? &order[rank][position[rank]]
                                               : nullptr;
  }

  void complete(size_t rank, int64_t start) {
    const Step &step = *head(rank);
    int64_t end = start + duration(step.program);
    finish.set(step, end);
    timeline.start[rank].push_back(start);
    timeline.end[rank].push_back(end);
    now[rank] = end;
    ++position[rank];
  }

  /// Rank programs may hold collectives over all ranks: all start together.
  bool passBarrier() {
    const Step *first = head(0);
    if (!first || !isRankProgram(first->program))
      return false;
    int64_t start = 0;
    for (size_t rank = 0; rank < order.size(); ++rank) {
      const Step *step = head(rank);
      if (!step || step->program != first->program)
        return false;
      start = std::max(start, now[rank]);
    }
    for (size_t rank = 0; rank < order.size(); ++rank)
      complete(rank, start);
    return true;
  }

  bool runHead(size_t rank) {
    const Step *step = head(rank);
    if (!step || isRankProgram(step->program))
      return false;
    int64_t start = now[rank];
    for (Dependence before : dependences.of(step->program, step->chunk)) {
      int64_t end =
          finish.get({before.program, before.chunk, step->microbatch});
      if (end == FinishTimes::never)
        return false;
      start = std::max(start, end);
    }
    complete(rank, start);
    return true;
  }

  /// The step that the head of `rank` waits for.
  Step blockerOf(const Step &step) const {
    if (isRankProgram(step.program)) {
      for (size_t rank = 0; rank < order.size(); ++rank)
        if (const Step *other = head(rank);
            other && other->program != step.program)
          return *other;
      return step;
    }
    for (Dependence before : dependences.of(step.program, step.chunk)) {
      Step needed = {before.program, before.chunk, step.microbatch};
      if (finish.get(needed) == FinishTimes::never)
        return needed;
    }
    return step;
  }

  /// Walks from blocked head to blocked head until one comes twice.
  Error blocked(int rank, Step step) const {
    std::vector<bool> seen(order.size());
    std::string note;
    while (!seen[rank]) {
      seen[rank] = true;
      Step needed = blockerOf(step);
      note += (note.empty() ? "rank " : "; rank ") + std::to_string(rank) +
              " waits in " + describe(step) + " for " + describe(needed);
      if (isRankProgram(needed.program))
        break;
      rank = graph.chunks[needed.chunk].rank;
      const auto &list = order[rank];
      if (std::ranges::find(list, needed) == list.end())
        return {"expects an order that runs " + describe(needed) +
                    ", got none on rank " + std::to_string(rank),
                note};
      step = *head(rank);
    }
    return {"expects an order that the data dependences allow, got one in "
            "which rank " +
                std::to_string(rank) + " waits for ever in " + describe(step),
            note};
  }

  const ChunkGraph &graph;
  const Order &order;
  Dependences dependences;
  FinishTimes finish;
  std::vector<size_t> position;
  std::vector<int64_t> now;
  Timeline timeline;
};

} // namespace

Result<Timeline> replay(const ChunkGraph &graph, const Order &order) {
  if (static_cast<int>(order.size()) != graph.ranks)
    return Error{"expects an order of " + std::to_string(graph.ranks) +
                 " ranks, got " + std::to_string(order.size())};
  FinishTimes listed(graph, order);
  for (size_t rank = 0; rank < order.size(); ++rank)
    for (const Step &step : order[rank]) {
      bool known = isRankProgram(step.program) ||
                   (step.chunk >= 0 &&
                    step.chunk < static_cast<int>(graph.chunks.size()) &&
                    graph.chunks[step.chunk].rank == static_cast<int>(rank));
      if (!known || step.microbatch < 0)
        return Error{"expects steps of the rank's own chunks, got " +
                     describe(step) + " on rank " + std::to_string(rank)};
      if (isRankProgram(step.program))
        continue;
      if (listed.get(step) != FinishTimes::never)
        return Error{"expects each step once, got " + describe(step) +
                     " twice on rank " + std::to_string(rank)};
      listed.set(step, 0);
    }
  return Replay(graph, order).run();
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// Most keys open at once, where a key is open from its first to its last step.
template <typename KeyOf>
static int64_t peakOpen(const std::vector<Step> &steps, KeyOf keyOf) {
  std::map<int64_t, size_t> last;
  for (size_t i = 0; i < steps.size(); ++i)
    if (auto key = keyOf(steps[i]); key >= 0)
      last[key] = i;
  std::map<int64_t, bool> open;
  int64_t peak = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    int64_t key = keyOf(steps[i]);
    if (key < 0)
      continue;
    open[key] = true;
    peak = std::max(peak, static_cast<int64_t>(open.size()));
    if (last[key] == i)
      open.erase(key);
  }
  return peak;
}

static int64_t microbatchOf(const Step &step) {
  bool holds = !isRankProgram(step.program) && step.program != Program::Count;
  return holds ? step.microbatch : -1;
}

std::vector<int64_t> inFlightByChunk(const ChunkGraph &graph,
                                     const Order &order) {
  std::vector<int64_t> peaks;
  for (int c = 0; c < static_cast<int>(graph.chunks.size()); ++c)
    peaks.push_back(peakOpen(order[graph.chunks[c].rank], [&](const Step &s) {
      return s.chunk == c ? microbatchOf(s) : -1;
    }));
  return peaks;
}

std::vector<int64_t> inFlightByRank(const ChunkGraph &graph,
                                    const Order &order) {
  std::vector<int64_t> peaks;
  for (int rank = 0; rank < graph.ranks; ++rank)
    peaks.push_back(peakOpen(order[rank], microbatchOf));
  return peaks;
}

Status checkAscending(const Order &order) {
  for (size_t rank = 0; rank < order.size(); ++rank) {
    std::map<std::pair<Program, int>, int64_t> latest;
    for (const Step &step : order[rank]) {
      if (step.program != Program::Backward && step.program != Program::Weight)
        continue;
      auto [entry, fresh] = latest.try_emplace({step.program, step.chunk}, -1);
      if (step.microbatch <= entry->second)
        return Error{"expects gradients in ascending microbatch order, got " +
                         describe(step) + " after microbatch " +
                         std::to_string(entry->second) + " on rank " +
                         std::to_string(rank),
                     "results are right, but not bit for bit those of other "
                     "schedules"};
      entry->second = step.microbatch;
    }
  }
  return {};
}

} // namespace smp::schedule
