//===- CheckerTest.cpp - Tests of the schedule checker --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTesting.h"

namespace smp::schedule {
namespace {

using namespace testing;

class CheckerTest : public ::testing::Test {
protected:
  ChunkGraph graph = straight(2);
  std::vector<RankSchedules> ranks = lowered(graph, ScheduleKind::OneFOneB, 3);

  Action *find(int rank, ActionKind kind, int64_t microbatch) {
    for (Action &action : ranks[rank].train)
      if (action.kind == kind && action.microbatch == microbatch)
        return &action;
    return nullptr;
  }
  int indexOf(int rank, const Action *action) {
    return static_cast<int>(action - ranks[rank].train.data());
  }
  Error error() {
    Status status = checkSchedules(graph, ranks, 3, 1);
    return status ? Error{"no error"} : status.error();
  }
};

TEST_F(CheckerTest, AcceptsGenerated) {
  EXPECT_EQ(error().message, "no error");
}

// Two ranks that each send first: with rendezvous, neither receives.
TEST(Checker, CrossedSendsBlock) {
  ChunkGraph graph = straight(2);
  std::vector<SlottedArena> arenas = {{{ArenaKind::Boundary, 0}, 1},
                                      {{ArenaKind::Boundary, 1}, 1}};
  auto transfer = [](ActionKind kind, int peer, int edge,
                     std::vector<int> waits) {
    return Action{.kind = kind,
                  .microbatch = 4,
                  .peer = peer,
                  .edge = edge,
                  .slots = {{edge, 0}},
                  .waits = std::move(waits)};
  };
  std::vector<Action> zero = {transfer(ActionKind::Send, 1, 0, {}),
                              transfer(ActionKind::Recv, 1, 1, {0})};
  std::vector<Action> one = {transfer(ActionKind::Send, 0, 1, {}),
                             transfer(ActionKind::Recv, 0, 0, {0})};
  std::vector<RankList> lists = {{zero, arenas}, {one, arenas}};
  ASSERT_TRUE(checkStructure(graph, lists));
  std::optional<Deadlock> deadlock = findDeadlock(lists);
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->cycle.size(), 4u);
  Error error = describe(graph, lists, *deadlock);
  EXPECT_EQ(error.message,
            "expects a schedule that cannot block, got one in which rank 0 "
            "action 0 (send of edge 'act.c0-c1', microbatch 4, to rank 1) and "
            "rank 1 action 1 (receive of edge 'act.c0-c1', microbatch 4, from "
            "rank 0) wait for each other");
  EXPECT_EQ(error.note,
            "rank 0 action 0 (send of edge 'act.c0-c1', microbatch 4, to rank "
            "1) waits for rank 1 action 1 (receive of edge 'act.c0-c1', "
            "microbatch 4, from rank 0) waits for rank 1 action 0 (send of "
            "edge 'cot.c1-c0', microbatch 4, to rank 0) waits for rank 0 "
            "action 1 (receive of edge 'cot.c1-c0', microbatch 4, from rank "
            "1) waits for rank 0 action 0 (send of edge 'act.c0-c1', "
            "microbatch 4, to rank 1)");
}

TEST_F(CheckerTest, WaitForLaterActionBlocks) {
  Action *recv = find(1, ActionKind::Recv, 1);
  recv->waits = {indexOf(1, recv)};
  EXPECT_TRUE(error().message.starts_with(
      "expects a schedule that cannot block, got one in which rank 1 action"))
      << error().str();
}

TEST_F(CheckerTest, MissingWaitForReceivedValue) {
  Action *recv = find(1, ActionKind::Recv, 2);
  int id = indexOf(1, recv);
  for (Action &action : ranks[1].train)
    std::erase(action.waits, id);
  EXPECT_TRUE(
      error().message.starts_with("expects slot 0 of 'boundary.act.c0-c1'"))
      << error().str();
}

TEST_F(CheckerTest, ReceiveOverwritesWhatIsStillRead) {
  find(1, ActionKind::Recv, 2)->waits.clear();
  EXPECT_EQ(error().message,
            "expects slot 0 of 'boundary.act.c0-c1' to be free before it is "
            "written, got rank 1 action 18 (receive of edge 'act.c0-c1', "
            "microbatch 2, from rank 0) that does not wait for rank 1 action "
            "8 (receive of edge 'act.c0-c1', microbatch 0, from rank 0)");
}

TEST_F(CheckerTest, WrongSlotIsWrongValue) {
  for (Action &action : ranks[0].train)
    if (action.program == Program::Backward && action.microbatch == 1)
      for (SlotUse &use : action.slots)
        if (ranks[0].arenas[use.arena].key.kind == ArenaKind::Stash)
          use.slot ^= 1;
  EXPECT_TRUE(error().message.starts_with(
      "expects slot 0 of 'stash.c0' to hold the value that is read, got rank 0 "
      "action"))
      << error().str();
}

TEST_F(CheckerTest, LaunchesOfARankAreOrdered) {
  for (Action &action : ranks[0].train)
    if (action.program == Program::Update)
      action.waits.clear();
  EXPECT_TRUE(error().message.starts_with(
      "expects the launches of a rank one after the other, got rank 0 action"))
      << error().str();
}

TEST_F(CheckerTest, StructureErrors) {
  auto broken = [&](auto change) {
    ranks = lowered(graph, ScheduleKind::OneFOneB, 3);
    change();
    return error().message;
  };
  EXPECT_EQ(broken([&] { ranks[0].train[0].waits = {99}; }),
            "expects action 0 of rank 0 to wait for actions of its list, got "
            "action 99");
  EXPECT_EQ(broken([&] { ranks[0].train[0].microbatch = -1; }),
            "expects action 0 of rank 0 a microbatch from 0 on, got -1");
  EXPECT_EQ(broken([&] { ranks[0].train[0].input = 7; }),
            "expects action 0 of rank 0 to load an input of the graph, got "
            "input 7");
  EXPECT_EQ(broken([&] { ranks[0].train[0].slots[0].slot = 7; }),
            "expects action 0 of rank 0 to use one of 3 slots of "
            "'input.tokens', got slot 7");
  EXPECT_EQ(broken([&] { ranks[0].train[0].slots[0].arena = 9; }),
            "expects action 0 of rank 0 to use slots of the rank's arenas, got "
            "arena 9");
  EXPECT_EQ(broken([&] { ranks[0].train[0].slots.clear(); }),
            "expects action 0 of rank 0 to use slots of 'input.tokens', got "
            "none");
  EXPECT_EQ(broken([&] { find(0, ActionKind::Send, 0)->edge = 5; }),
            "expects action 4 of rank 0 to transfer an edge of the graph, got "
            "edge 5");
  EXPECT_EQ(broken([&] { find(0, ActionKind::Send, 0)->edge = 1; }),
            "expects action 4 of rank 0 to transfer an edge from rank 1 to "
            "rank 0, got send of edge 'cot.c1-c0', microbatch 0, to rank 1");
  EXPECT_EQ(broken([&] { ranks[0].train[3].chunk = 1; }),
            "expects action 3 of rank 0 to launch a chunk of its rank, got "
            "chunk 1");
  EXPECT_EQ(broken([&] { ranks[0].train[3].program = Program::Weight; }),
            "expects action 3 of rank 0 to launch a program that its chunk "
            "has, got weight");
  EXPECT_EQ(broken([&] { ranks[0].arenas[0].key.index = 3; }),
            "expects arena 0 of rank 0 to belong to one of 2 values, got value "
            "3");
  EXPECT_EQ(broken([&] { ranks.pop_back(); }),
            "expects lists of 2 ranks, got 1");
}

TEST_F(CheckerTest, ChannelsAgree) {
  std::swap(find(0, ActionKind::Send, 0)->microbatch,
            find(0, ActionKind::Send, 1)->microbatch);
  EXPECT_EQ(error().message,
            "expects sends and receives between rank 0 and rank 1 in the same "
            "order, got send of edge 'act.c0-c1', microbatch 1, to rank 1 "
            "against receive of edge 'act.c0-c1', microbatch 0, from rank 0 as "
            "transfer 0");
}

TEST_F(CheckerTest, Coverage) {
  // A step more than asked for, a step less, and one out of place.
  EXPECT_EQ(checkSchedules(graph, ranks, 2, 1).error().message,
            "expects no launch outside the pass, got forward of chunk 0, "
            "microbatch 2 on rank 0");
  EXPECT_EQ(checkSchedules(graph, ranks, 4, 1).error().message,
            "expects forward of chunk 0, microbatch 3 once on rank 0, got 0 "
            "launches");
  std::vector<RankList> lists = trainLists(ranks);
  std::vector<Action> early = ranks[0].train;
  early.front() = {.program = Program::Update};
  lists[0].actions = early;
  EXPECT_EQ(checkCoverage(graph, lists, Pass::Train, 3).error().message,
            "expects counts, then 'begin_step', then the microbatches, then "
            "'update', got begin_step too late on rank 0");
}

TEST_F(CheckerTest, MemoryLimit) {
  std::vector<int64_t> strides(ranks[0].arenas.size(), 256);
  strides[0] = 4096;
  EXPECT_TRUE(checkMemory(graph, 0, ranks[0].arenas, strides, 1 << 20));
  Status status = checkMemory(graph, 0, ranks[0].arenas, strides, 9000);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "expects the slots of rank 0 to fit into 9000 bytes, got 9984 "
            "bytes");
  EXPECT_EQ(status.error().note, "most is 'stash.c0': 2 slots of 4096 bytes");
}

} // namespace
} // namespace smp::schedule
