//===- OrderTest.cpp - Tests of orders and their replay -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTesting.h"

namespace smp::schedule {
namespace {

using namespace testing;

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

} // namespace
} // namespace smp::schedule
