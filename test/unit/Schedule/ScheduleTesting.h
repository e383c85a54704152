//===- ScheduleTesting.h - Helpers of the schedule tests --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TEST_UNIT_SCHEDULE_SCHEDULETESTING_H
#define SMP_TEST_UNIT_SCHEDULE_SCHEDULETESTING_H

#include "smp/Schedule/Checker.h"
#include "smp/Schedule/Generators.h"

#include <gtest/gtest.h>

#include <random>

namespace smp::schedule::testing {

inline constexpr ScheduleKind allKinds[] = {
    ScheduleKind::Simple, ScheduleKind::OneFOneB, ScheduleKind::Interleaved};

/// "F0 B0 F1": forwards and backwards of a rank with one chunk; with several,
/// the chunk is a prefix: "0F0 2F0".
inline std::string text(const std::vector<Step> &steps, bool chunks = false) {
  std::string out;
  for (const Step &step : steps) {
    out += out.empty() ? "" : " ";
    if (chunks)
      out += std::to_string(step.chunk);
    out += step.program == Program::Forward ? "F" : "B";
    out += std::to_string(step.microbatch);
  }
  return out;
}

/// One chunk a rank.
inline ChunkGraph straight(int ranks) {
  std::vector<int> rankOfChunk;
  for (int rank = 0; rank < ranks; ++rank)
    rankOfChunk.push_back(rank);
  return makeChain(rankOfChunk);
}

inline Order generate(const ChunkGraph &graph, ScheduleKind kind,
                      int64_t microbatches) {
  Result<Order> order =
      generateOrder(graph, {.kind = kind, .microbatches = microbatches});
  EXPECT_TRUE(order) << (order ? "" : order.error().str());
  return order ? *order : Order(graph.ranks);
}

inline std::vector<RankSchedules>
lowered(const ChunkGraph &graph, ScheduleKind kind, int64_t microbatches,
        int64_t accumulation = 1, LoweringOptions options = {}) {
  auto ranks = lowerSchedules(graph, generate(graph, kind, microbatches),
                              microbatches, accumulation, options);
  EXPECT_TRUE(ranks) << (ranks ? "" : ranks.error().str());
  return ranks ? *ranks : std::vector<RankSchedules>();
}

inline std::vector<RankList>
trainLists(const std::vector<RankSchedules> &ranks) {
  std::vector<RankList> lists;
  for (const RankSchedules &rank : ranks)
    lists.push_back({rank.train, rank.arenas});
  return lists;
}

inline int64_t slotsOf(const RankSchedules &rank, ArenaKey key) {
  for (const SlottedArena &arena : rank.arenas)
    if (arena.key == key)
      return arena.slots;
  return 0;
}

/// Maps of chunks to ranks: every rank occurs, in any order, also repeatedly.
inline std::vector<int> randomRanks(std::mt19937 &random, int maxRanks,
                                    int maxChunks) {
  int ranks = 1 + int(random() % maxRanks);
  int chunks = ranks + int(random() % (maxChunks - ranks + 1));
  std::vector<int> rankOfChunk;
  for (int c = 0; c < chunks; ++c)
    rankOfChunk.push_back(c < ranks ? c : int(random() % ranks));
  std::shuffle(rankOfChunk.begin(), rankOfChunk.end(), random);
  return rankOfChunk;
}

/// A chain with random skip connections, values kept in place on either side,
/// chunks without backward at the front, inputs read anywhere.
inline ChunkGraph randomGraph(std::mt19937 &random, int maxRanks,
                              int maxChunks) {
  ChunkGraph graph = makeChain(randomRanks(random, maxRanks, maxChunks));
  int chunks = static_cast<int>(graph.chunks.size());
  if (chunks > 2 && random() % 2) {
    int from = int(random() % (chunks - 2));
    int to = from + 2 + int(random() % (chunks - from - 2));
    graph.edges.push_back({.name = "skip", .from = from, .to = to});
    graph.edges.push_back({.name = "skip.cot",
                           .from = to,
                           .to = from,
                           .programs = {Program::Backward}});
  }
  bool frozen = chunks > 1 && random() % 4 == 0;
  if (frozen) {
    graph.chunks[0].programs = {Program::Forward, Program::Evaluate,
                                Program::Predict};
    std::erase_if(graph.edges, [](const Edge &e) { return e.to == 0; });
  }
  for (Edge &edge : graph.edges) {
    bool producer = edge.from > 0 || !frozen;
    if (edge.programs.contains(Program::Forward) && producer &&
        random() % 3 == 0)
      edge.keptByProducer = {Program::Backward};
    if (edge.programs.contains(Program::Forward) && random() % 3 == 0)
      edge.keptByConsumer = {Program::Backward};
  }
  graph.inputs[0].uses.push_back(
      {int(random() % chunks), {Program::Forward, Program::Evaluate}});
  return graph;
}

} // namespace smp::schedule::testing

#endif // SMP_TEST_UNIT_SCHEDULE_SCHEDULETESTING_H
