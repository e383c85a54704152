//===- ArenaPlanTest.cpp - Tests of arena plans ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Memory/ArenaPlan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace smp::memory {
namespace {

void expectValid(const std::vector<LiveBuffer> &buffers, const ArenaPlan &plan,
                 int64_t alignment) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  EXPECT_GE(plan.bytes, plan.lowerBound);
  EXPECT_EQ(plan.bytes % alignment, 0);
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % alignment, 0);
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = buffers[i].bytes > 0 && buffers[j].bytes > 0 &&
                      buffers[i].first <= buffers[j].last &&
                      buffers[j].first <= buffers[i].last;
      bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                   plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
}

TEST(ArenaPlan, Empty) {
  ArenaPlan plan = planArena({});
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.lowerBound, 0);
}

TEST(ArenaPlan, DeadBufferIsReused) {
  std::vector<LiveBuffer> buffers = {{1000, 0, 1}, {1000, 2, 3}};
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.bytes, 1024);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
}

// The command that reads one and writes the other needs both.
TEST(ArenaPlan, ReadAndWrittenByOneCommandDoNotShare) {
  std::vector<LiveBuffer> buffers = {{256, 0, 1}, {256, 1, 2}};
  EXPECT_EQ(planArena(buffers).bytes, 512);
}

// Neither by size nor by time alone: 512 bytes must go into the gap.
TEST(ArenaPlan, MeetsTheBound) {
  std::vector<LiveBuffer> buffers = {
      {1024, 0, 1}, {512, 0, 3}, {512, 2, 3}, {512, 2, 5}, {1024, 4, 5}};
  ArenaPlan plan = planArena(buffers);
  expectValid(buffers, plan, 256);
  EXPECT_EQ(plan.lowerBound, 1536);
  EXPECT_EQ(plan.bytes, 1536);
}

TEST(ArenaPlan, Alignment) {
  std::vector<LiveBuffer> buffers = {{1, 0, 0}, {65, 0, 0}, {64, 0, 0}};
  ArenaPlan plan = planArena(buffers, 64);
  expectValid(buffers, plan, 64);
  EXPECT_EQ(plan.bytes, 256);
}

TEST(ArenaPlan, EmptyAndUnreadBuffers) {
  std::vector<LiveBuffer> buffers = {{0, 0, 9}, {256, 3, 2}, {256, 3, 3}};
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.bytes, 512);
  EXPECT_NE(plan.offsets[1], plan.offsets[2]);
}

/// Stack-like with some long-lived values, as training programs are.
std::vector<LiveBuffer> randomBuffers(std::mt19937 &random, int commands) {
  std::vector<LiveBuffer> buffers;
  for (int command = 0; command < commands; ++command) {
    int length =
        random() % 5 == 0 ? int(random() % commands) : 1 + int(random() % 3);
    buffers.push_back({int64_t(random() % 40) * 100, command,
                       std::min(command + length, commands)});
  }
  return buffers;
}

TEST(ArenaPlan, RandomProgramsNeverOverlap) {
  std::mt19937 random(4);
  double excess = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<LiveBuffer> buffers =
        randomBuffers(random, 1 + int(random() % 120));
    ArenaPlan plan = planArena(buffers);
    expectValid(buffers, plan, 256);
    if (plan.lowerBound > 0)
      excess += double(plan.bytes) / double(plan.lowerBound) - 1;
    // Same input, same plan.
    EXPECT_EQ(planArena(buffers).offsets, plan.offsets);
  }
  EXPECT_LT(excess / 100, 0.01);
}

} // namespace
} // namespace smp::memory
