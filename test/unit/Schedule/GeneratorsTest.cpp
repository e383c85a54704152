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

//===----------------------------------------------------------------------===//
// Orders in general
//===----------------------------------------------------------------------===//

TEST(Order, ReplayNamesContradiction) {
  ChunkGraph graph = straight(2);
  // Rank 1 wants microbatch 1 first, rank 0 its backward before it.
  Order order = {{{Program::Forward, 0, 0},
                  {Program::Backward, 0, 0},
                  {Program::Forward, 0, 1}},
                 {{Program::Forward, 1, 1},
                  {Program::Forward, 1, 0},
                  {Program::Backward, 1, 0}}};
  Result<Timeline> timeline = replay(graph, order);
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().note,
            "rank 0 waits in backward of chunk 0, microbatch 0 for backward of "
            "chunk 1, microbatch 0; rank 1 waits in forward of chunk 1, "
            "microbatch 1 for forward of chunk 0, microbatch 1");
}

TEST(Order, ReplayNamesMissingStep) {
  Result<Timeline> timeline =
      replay(straight(2), {{}, {{Program::Forward, 1, 0}}});
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().message,
            "expects an order that runs forward of chunk 0, microbatch 0, got "
            "none on rank 0");
}

TEST(Order, ReplayRefusesForeignAndRepeatedSteps) {
  ChunkGraph graph = straight(2);
  Result<Timeline> foreign = replay(graph, {{{Program::Forward, 1, 0}}, {}});
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().message,
            "expects steps of the rank's own chunks, got forward of chunk 1, "
            "microbatch 0 on rank 0");
  Result<Timeline> twice =
      replay(graph, {{{Program::Forward, 0, 0}, {Program::Forward, 0, 0}}, {}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "expects each step once, got forward of "
                                   "chunk 0, microbatch 0 twice on rank 0");
  EXPECT_FALSE(replay(graph, {{}}));
}

TEST(Order, DescendingBackwardsLoseBitEquality) {
  Status status =
      checkAscending({{{Program::Backward, 0, 1}, {Program::Backward, 0, 0}}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "expects gradients in ascending microbatch order, got backward of "
            "chunk 0, microbatch 0 after microbatch 1 on rank 0");
}

TEST(Order, AccumulationContinuesMicrobatches) {
  Order order = repeat(generate(straight(1), ScheduleKind::OneFOneB, 2), 2, 2);
  EXPECT_EQ(text(order[0]), "F0 B0 F1 B1 F2 B2 F3 B3");
  EXPECT_EQ(inFlightByRank(straight(1), order)[0], 1);
}

//===----------------------------------------------------------------------===//
// Chunk graphs
//===----------------------------------------------------------------------===//

static std::string verifyError(const ChunkGraph &graph) {
  Status status = verify(graph);
  return status ? "" : status.error().message;
}

TEST(ChunkGraph, VerifyErrors) {
  EXPECT_EQ(
      verifyError({}),
      "expects at least one rank and one chunk, got 1 ranks and 0 chunks");
  ChunkGraph graph = straight(2);
  graph.chunks[1].rank = 2;
  EXPECT_EQ(verifyError(graph),
            "expects chunk 1 on a rank below 2, got rank 2");
  graph = straight(2);
  graph.edges[0].to = 5;
  EXPECT_EQ(verifyError(graph), "expects edge 'act.c0-c1' between chunks 0 to "
                                "1, got chunk 5");
  graph = straight(2);
  std::swap(graph.edges[1].from, graph.edges[1].to);
  EXPECT_EQ(verifyError(graph), "expects edge 'cot.c1-c0' to run to an earlier "
                                "chunk, got chunk 0 to chunk 1");
  graph = straight(2);
  graph.edges[0].programs = {};
  EXPECT_EQ(verifyError(graph),
            "expects edge 'act.c0-c1' to be written by a program, got none");
  graph = straight(2);
  graph.chunks[0].programs = {Program::Forward};
  EXPECT_EQ(verifyError(graph), "expects chunk 0 to have a program 'evaluate' "
                                "for edge 'act.c0-c1', got none");
  graph = straight(2);
  graph.inputs[1].uses[0].chunk = -1;
  EXPECT_EQ(verifyError(graph), "expects input 'labels' to be read by a chunk "
                                "below 2, got chunk -1");
}

} // namespace
} // namespace smp::schedule
