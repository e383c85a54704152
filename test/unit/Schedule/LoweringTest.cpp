//===- LoweringTest.cpp - Tests of transfers, slots and waits -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTesting.h"

namespace smp::schedule {
namespace {

using namespace testing;

/// One line an action: what it is, its slots by arena, its waits.
std::string text(const ChunkGraph &graph, const RankSchedules &rank,
                 const std::vector<Action> &actions) {
  std::string out;
  for (size_t i = 0; i < actions.size(); ++i) {
    out += std::to_string(i) + " " + describe(graph, actions[i]);
    for (SlotUse use : actions[i].slots)
      out += " " + arenaName(graph, rank.arenas[use.arena].key) + "=" +
             std::to_string(use.slot);
    for (int wait : actions[i].waits)
      out += " <" + std::to_string(wait);
    out += "\n";
  }
  return out;
}

TEST(Lowering, ListsOfTwoRanks) {
  ChunkGraph graph = straight(2);
  auto ranks = lowered(graph, ScheduleKind::OneFOneB, 1);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(
      text(graph, ranks[0], ranks[0].train),
      "0 load of input 'tokens', microbatch 0 input.tokens=0\n"
      "1 begin_step\n"
      "2 forward of chunk 0, microbatch 0 stash.c0=0 boundary.act.c0-c1=0 "
      "input.tokens=0 <0 <1\n"
      "3 send of edge 'act.c0-c1', microbatch 0, to rank 1 "
      "boundary.act.c0-c1=0 <2\n"
      "4 receive of edge 'cot.c1-c0', microbatch 0, from rank 1 "
      "boundary.cot.c1-c0=0\n"
      "5 backward of chunk 0, microbatch 0 stash.c0=0 boundary.cot.c1-c0=0 "
      "input.tokens=0 <2 <4\n"
      "6 update <5\n");
  EXPECT_EQ(
      text(graph, ranks[1], ranks[1].train),
      "0 load of input 'labels', microbatch 0 input.labels=0\n"
      "1 count of chunk 1, microbatch 0 input.labels=0 <0\n"
      "2 load of input 'labels', microbatch 0 input.labels=0 <1\n"
      "3 begin_step <1\n"
      "4 receive of edge 'act.c0-c1', microbatch 0, from rank 0 "
      "boundary.act.c0-c1=0\n"
      "5 forward of chunk 1, microbatch 0 stash.c1=0 boundary.act.c0-c1=0 "
      "input.labels=0 <2 <3 <4\n"
      "6 backward of chunk 1, microbatch 0 stash.c1=0 boundary.cot.c1-c0=0 "
      "input.labels=0 <5\n"
      "7 send of edge 'cot.c1-c0', microbatch 0, to rank 0 "
      "boundary.cot.c1-c0=0 <6\n"
      "8 update <6\n");
}

TEST(Lowering, EvaluateAndPredictOnlyRunForward) {
  ChunkGraph graph = straight(2);
  auto ranks = lowered(graph, ScheduleKind::Interleaved, 2);
  EXPECT_EQ(text(graph, ranks[0], ranks[0].predict),
            "0 load of input 'tokens', microbatch 0 input.tokens=0\n"
            "1 predict of chunk 0, microbatch 0 boundary.act.c0-c1=0 "
            "input.tokens=0 <0\n"
            "2 send of edge 'act.c0-c1', microbatch 0, to rank 1 "
            "boundary.act.c0-c1=0 <1\n");
  EXPECT_EQ(text(graph, ranks[1], ranks[1].predict),
            "0 receive of edge 'act.c0-c1', microbatch 0, from rank 0 "
            "boundary.act.c0-c1=0\n"
            "1 predict of chunk 1, microbatch 0 boundary.act.c0-c1=0 <0\n");
  int launches = 0;
  for (const Action &action : ranks[1].evaluate)
    launches += action.kind == ActionKind::Launch;
  EXPECT_EQ(launches, 2);
}

TEST(Lowering, StashHasASlotForEachMicrobatchInFlight) {
  ChunkGraph graph = straight(4);
  auto ranks = lowered(graph, ScheduleKind::OneFOneB, 8);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(slotsOf(ranks[rank], {ArenaKind::Stash, rank}), 4 - rank);
  ranks = lowered(graph, ScheduleKind::Simple, 8);
  EXPECT_EQ(slotsOf(ranks[3], {ArenaKind::Stash, 3}), 8);
}

// What a schedule needs does not grow with the number of microbatches, nor with
// the number of accumulated batches.
TEST(Lowering, SlotsAreBounded) {
  for (ScheduleKind kind : {ScheduleKind::OneFOneB, ScheduleKind::Interleaved})
    for (const std::vector<int> &map :
         {std::vector<int>{0, 1, 2, 3}, std::vector<int>{0, 1, 0},
          std::vector<int>{0, 1, 0, 1}}) {
      auto few = lowered(makeChain(map), kind, 16);
      auto many = lowered(makeChain(map), kind, 64, 3);
      for (size_t rank = 0; rank < few.size(); ++rank) {
        ASSERT_EQ(few[rank].arenas.size(), many[rank].arenas.size());
        for (size_t i = 0; i < few[rank].arenas.size(); ++i)
          EXPECT_EQ(few[rank].arenas[i].slots, many[rank].arenas[i].slots);
      }
    }
}

TEST(Lowering, OverlapCostsAtMostOneSlotASide) {
  ChunkGraph graph = straight(2);
  auto fewest =
      lowered(graph, ScheduleKind::OneFOneB, 8, 1, {.overlap = false});
  auto overlapped = lowered(graph, ScheduleKind::OneFOneB, 8);
  ArenaKey activation = {ArenaKind::Boundary, 0};
  EXPECT_EQ(slotsOf(fewest[0], activation), 1);
  EXPECT_EQ(slotsOf(overlapped[0], activation), 2);
  for (size_t i = 0; i < fewest[0].arenas.size(); ++i)
    EXPECT_LE(overlapped[0].arenas[i].slots, fewest[0].arenas[i].slots + 1);
}

// A value that backward reads in place keeps its slot until then.
TEST(Lowering, KeptBoundary) {
  ChunkGraph graph = straight(3);
  graph.edges[0].keptByConsumer = {Program::Backward};
  graph.edges[0].keptByProducer = {Program::Backward};
  auto ranks = lowered(graph, ScheduleKind::OneFOneB, 6, 1, {.overlap = false});
  EXPECT_EQ(slotsOf(ranks[0], {ArenaKind::Boundary, 0}), 3);
  EXPECT_GE(slotsOf(ranks[1], {ArenaKind::Boundary, 0}), 2);
}

// Neighbouring chunks of one rank share a boundary arena and transfer nothing.
TEST(Lowering, SameRankNeedsNoTransfer) {
  ChunkGraph graph = makeChain({0, 0});
  auto ranks = lowered(graph, ScheduleKind::Interleaved, 3);
  for (const Action &action : ranks[0].train)
    EXPECT_TRUE(action.kind == ActionKind::Launch ||
                action.kind == ActionKind::Load);
  EXPECT_EQ(slotsOf(ranks[0], {ArenaKind::Boundary, 0}), 1);
}

TEST(Lowering, AllSchedulesPassTheChecker) {
  for (const std::vector<int> &map :
       {std::vector<int>{0}, std::vector<int>{0, 1}, std::vector<int>{0, 0, 1},
        std::vector<int>{0, 1, 0}, std::vector<int>{0, 1, 0, 1},
        std::vector<int>{0, 1, 2, 3}, std::vector<int>{1, 0, 2, 0}})
    for (ScheduleKind kind : allKinds)
      for (int64_t microbatches : {1, 2, 4, 7})
        for (bool overlap : {false, true}) {
          ChunkGraph graph = makeChain(map);
          auto ranks =
              lowered(graph, kind, microbatches, 2, {.overlap = overlap});
          Status status = checkSchedules(graph, ranks, microbatches, 2);
          EXPECT_TRUE(status) << status.error().str();
        }
}

TEST(Lowering, RandomGraphsPassTheChecker) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    ChunkGraph graph = randomGraph(random, 4, 7);
    auto microbatches = static_cast<int64_t>(1 + random() % 6);
    auto accumulation = static_cast<int64_t>(1 + random() % 2);
    auto ranks = lowered(graph, allKinds[random() % 3], microbatches,
                         accumulation, {.overlap = random() % 2 == 0});
    Status status = checkSchedules(graph, ranks, microbatches, accumulation);
    EXPECT_TRUE(status) << status.error().str();
  }
}

// A schedule with separate weight programs is not generated yet, but an order
// that has them lowers and checks like any other.
TEST(Lowering, WeightPrograms) {
  ChunkGraph graph = straight(2);
  for (Chunk &chunk : graph.chunks)
    chunk.programs.insert(Program::Weight);
  graph.edges[1].keptByConsumer = {Program::Weight};
  Order order = {{{Program::Forward, 0, 0},
                  {Program::Forward, 0, 1},
                  {Program::Backward, 0, 0},
                  {Program::Backward, 0, 1},
                  {Program::Weight, 0, 0},
                  {Program::Weight, 0, 1}},
                 {{Program::Forward, 1, 0},
                  {Program::Backward, 1, 0},
                  {Program::Forward, 1, 1},
                  {Program::Backward, 1, 1},
                  {Program::Weight, 1, 0},
                  {Program::Weight, 1, 1}}};
  auto ranks = lowerSchedules(graph, order, 2, 1);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(slotsOf((*ranks)[0], {ArenaKind::Boundary, 1}), 2);
  EXPECT_EQ(slotsOf((*ranks)[1], {ArenaKind::Stash, 1}), 2);
  Status status = checkSchedules(graph, *ranks, 2, 1);
  EXPECT_TRUE(status) << status.error().str();
}

// Long lists take milliseconds: 16 ranks, 256 microbatches.
TEST(Lowering, LargeScheduleIsCheckedQuickly) {
  ChunkGraph graph = straight(16);
  auto ranks = lowered(graph, ScheduleKind::OneFOneB, 256);
  Status status = checkSchedules(graph, ranks, 256, 1);
  EXPECT_TRUE(status) << status.error().str();
}

} // namespace
} // namespace smp::schedule
