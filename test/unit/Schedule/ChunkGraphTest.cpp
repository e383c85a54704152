//===- ChunkGraphTest.cpp - Tests of chunk graphs -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTesting.h"

namespace smp::schedule {
namespace {

using namespace testing;

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
