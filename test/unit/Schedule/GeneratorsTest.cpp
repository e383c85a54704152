//===- GeneratorsTest.cpp - Tests of the built-in schedules ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTesting.h"

namespace smp::schedule {
namespace {

using namespace testing;

TEST(Generators, SimpleRunsAllForwardsFirst) {
  Order order = generate(straight(2), ScheduleKind::Simple, 3);
  EXPECT_EQ(text(order[0]), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text(order[1]), "F0 F1 F2 B0 B1 B2");
}

TEST(Generators, OneFOneBWarmsUpThenAlternates) {
  Order order = generate(straight(4), ScheduleKind::OneFOneB, 6);
  EXPECT_EQ(text(order[0]), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
  EXPECT_EQ(text(order[1]), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  EXPECT_EQ(text(order[3]), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
}

TEST(Generators, OneFOneBWithFewMicrobatches) {
  Order order = generate(straight(4), ScheduleKind::OneFOneB, 2);
  EXPECT_EQ(text(order[0]), "F0 F1 B0 B1");
  EXPECT_EQ(text(order[3]), "F0 B0 F1 B1");
}

// The example of the semantics: backward 0 comes before forward 2.
TEST(Generators, InterleavedPrefersBackward) {
  Order order = generate(straight(2), ScheduleKind::Interleaved, 4);
  EXPECT_EQ(text(order[0]), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text(order[1]), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(Generators, RankVisitedTwice) {
  ChunkGraph graph = makeChain({0, 1, 0});
  EXPECT_EQ(text(generate(graph, ScheduleKind::Simple, 2)[0], true),
            "0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1");
  EXPECT_EQ(text(generate(graph, ScheduleKind::OneFOneB, 3)[0], true),
            "0F0 0F1 2F0 2B0 2F1 2B1 0B0 0F2 2F2 2B2 0B1 0B2");
  EXPECT_EQ(text(generate(graph, ScheduleKind::Interleaved, 3)[0], true),
            "0F0 0F1 2F0 2B0 2F1 2B1 0B0 0B1 0F2 2F2 2B2 0B2");
}

TEST(Generators, ActiveMicrobatchesLimitInterleaved) {
  ChunkGraph graph = straight(3);
  for (int64_t active : {1, 2, 3, 5}) {
    Result<Order> order =
        generateOrder(graph, {.kind = ScheduleKind::Interleaved,
                              .microbatches = 6,
                              .activeMicrobatches = active});
    ASSERT_TRUE(order);
    EXPECT_EQ(inFlightByRank(graph, *order)[0], std::min<int64_t>(active, 3));
  }
  Result<Order> one =
      generateOrder(graph, {.microbatches = 2, .activeMicrobatches = 1});
  ASSERT_TRUE(one);
  EXPECT_EQ(text((*one)[0]), "F0 B0 F1 B1");
}

TEST(Generators, TooFewActiveMicrobatches) {
  Result<Order> order =
      generateOrder(straight(4), {.kind = ScheduleKind::OneFOneB,
                                  .microbatches = 8,
                                  .activeMicrobatches = 3});
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().message,
            "expects 'active_microbatches' to be at least 4 for pipeline "
            "'1f1b' with 8 microbatches, got 3");
  EXPECT_FALSE(generateOrder(straight(1), {.kind = ScheduleKind::Simple,
                                           .microbatches = 8,
                                           .activeMicrobatches = 7}));
  EXPECT_TRUE(generateOrder(straight(4), {.kind = ScheduleKind::OneFOneB,
                                          .microbatches = 2,
                                          .activeMicrobatches = 2}));
  EXPECT_FALSE(
      generateOrder(straight(4), {.microbatches = 8, .activeMicrobatches = 0}));
}

TEST(Generators, NoMicrobatches) {
  Result<Order> order = generateOrder(straight(2), {.microbatches = 0});
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().message,
            "expects 'microbatches' to be at least 1, got 0");
}

TEST(Generators, WeightProgramsAreNotBuiltIn) {
  ChunkGraph graph = straight(2);
  graph.chunks[1].programs.insert(Program::Weight);
  Result<Order> order = generateOrder(graph, {.microbatches = 2});
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().message,
            "expects chunks without a separate weight program for pipeline "
            "'interleaved', got one");
}

TEST(Generators, InFlightByStage) {
  using Counts = std::vector<int64_t>;
  auto counts = [](ScheduleKind kind) {
    return *stageInFlight(4, {.kind = kind, .microbatches = 6});
  };
  EXPECT_EQ(counts(ScheduleKind::Simple), (Counts{6, 6, 6, 6}));
  EXPECT_EQ(counts(ScheduleKind::OneFOneB), (Counts{4, 3, 2, 1}));
  EXPECT_EQ(counts(ScheduleKind::Interleaved), (Counts{4, 3, 2, 1}));
  EXPECT_FALSE(stageInFlight(0, {}));
}

TEST(Generators, NamesRoundTrip) {
  for (ScheduleKind kind : allKinds)
    EXPECT_EQ(parseScheduleKind(scheduleName(kind)), kind);
  EXPECT_EQ(parseScheduleKind("looped"), std::nullopt);
}

// Every step once, backwards ascending, dependences kept, for any graph.
TEST(Generators, RandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    ChunkGraph graph = randomGraph(random, 5, 8);
    ASSERT_TRUE(verify(graph)) << verify(graph).error().str();
    ScheduleKind kind = allKinds[random() % 3];
    auto microbatches = static_cast<int64_t>(1 + random() % 7);
    Order order = generate(graph, kind, microbatches);
    size_t steps = 0, expected = 0;
    for (const std::vector<Step> &list : order)
      steps += list.size();
    for (const Chunk &chunk : graph.chunks)
      expected +=
          microbatches * (1 + chunk.programs.contains(Program::Backward));
    EXPECT_EQ(steps, expected);
    EXPECT_TRUE(checkAscending(order));
    Result<Timeline> timeline = replay(graph, order);
    EXPECT_TRUE(timeline) << (timeline ? "" : timeline.error().str());
  }
}

} // namespace
} // namespace smp::schedule
