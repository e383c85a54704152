//===- AssignmentTest.cpp - Tests of manual partitions --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/Assignment.h"

#include <gtest/gtest.h>

namespace smp::partition {
namespace {

using Partitions = std::vector<std::optional<int>>;

const std::vector<std::string> paths = {
    "transformer.wte",      "transformer.h.0.attn", "transformer.h.0.mlp",
    "transformer.h.1.attn", "transformer.h.10.mlp", "lm_head"};

std::string messageOf(const Assignment &assignment) {
  auto resolved = resolveAssignment(assignment, paths);
  return resolved ? "" : resolved.error().str();
}

TEST(Assignment, InnermostWins) {
  auto resolved =
      resolveAssignment({.partitionOfPath = {{"transformer", 0},
                                             {"transformer.h", 1},
                                             {"transformer.h.0", 2},
                                             {"transformer.h.0.mlp", 3}},
                         .defaultPartition = 1,
                         .partitions = 4},
                        paths);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(*resolved, (Partitions{0, 2, 3, 1, 1, 1}));
}

// 'transformer.h.1' is no ancestor of 'transformer.h.10'.
TEST(Assignment, NamesAreWhole) {
  auto resolved = resolveAssignment(
      {.partitionOfPath = {{"transformer.h.1", 1}}, .partitions = 2}, paths);
  ASSERT_TRUE(resolved);
  EXPECT_EQ((*resolved)[3], 1);
  EXPECT_EQ((*resolved)[4], std::nullopt);
}

TEST(Assignment, EmptyPathIsTheModel) {
  auto resolved = resolveAssignment(
      {.partitionOfPath = {{"", 1}, {"lm_head", 0}}, .partitions = 2}, paths);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(*resolved, (Partitions{1, 1, 1, 1, 1, 0}));
}

TEST(Assignment, UnknownPathNamesTheNearest) {
  EXPECT_EQ(
      messageOf({.partitionOfPath = {{"transfomer.h.0", 0}}, .partitions = 2}),
      "expects module paths of the model in 'assignment', got "
      "'transfomer.h.0'\n  note: did you mean 'transformer.h.0'");
  // The whole model, whose path is empty, is no slip of a short name.
  EXPECT_EQ(messageOf({.partitionOfPath = {{"zz", 0}}, .partitions = 2}),
            "expects module paths of the model in 'assignment', got 'zz'\n"
            "  note: the model has no module of that name");
  EXPECT_EQ(messageOf({.partitionOfPath = {{"decoder", 0}}, .partitions = 2}),
            "expects module paths of the model in 'assignment', got "
            "'decoder'\n  note: the model has no module of that name");
}

TEST(Assignment, PartitionsInRange) {
  EXPECT_EQ(messageOf({.partitionOfPath = {{"lm_head", 2}}, .partitions = 2}),
            "expects a partition from 0 to 1 for 'lm_head' in 'assignment', "
            "got 2");
  EXPECT_EQ(messageOf({.defaultPartition = -1, .partitions = 2}),
            "expects 'default_partition' from 0 to 1, got -1");
}

TEST(Runs, ConsecutiveUnitsAreOneChunk) {
  auto runs = runsOf({0, 0, 1, 1, 1, 0}, 2, /*contiguous=*/false);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 3u);
  EXPECT_EQ((*runs)[1].begin, 2);
  EXPECT_EQ((*runs)[1].end, 5);
  EXPECT_EQ((*runs)[2].partition, 0);
}

TEST(Runs, Errors) {
  auto message = [](const std::vector<int> &partitions, bool contiguous) {
    return runsOf(partitions, 2, contiguous).error().message;
  };
  EXPECT_EQ(message({0, 1, 0}, true),
            "expects each partition to be one piece of the model, got "
            "partition 0 in 2 pieces");
  EXPECT_EQ(message({0, 0}, false),
            "expects work for every partition, got none for partition 1");
  EXPECT_EQ(message({0, 3}, false),
            "expects a partition from 0 to 1 for every unit, got 3");
}

} // namespace
} // namespace smp::partition
