//===- SampleOrderTest.cpp - Which sample stands at which position --------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Data/SampleOrder.h"
#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace smp::runtime;

TEST(SampleOrder, EveryEpochIsAPermutation) {
  for (int64_t size : {1, 2, 3, 4, 5, 16, 17, 100, 1000}) {
    SampleOrder order(size, 42);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<int64_t> seen;
      for (int64_t i = 0; i < size; ++i) {
        Sample sample = order.at(epoch * size + i);
        EXPECT_EQ(sample.epoch, epoch);
        EXPECT_GE(sample.index, 0);
        EXPECT_LT(sample.index, size);
        seen.insert(sample.index);
      }
      EXPECT_EQ(static_cast<int64_t>(seen.size()), size);
    }
  }
}

static std::vector<int64_t> prefix(const SampleOrder &order, int64_t begin) {
  std::vector<int64_t> values;
  values.reserve(50);
  for (int64_t i = 0; i < 50; ++i)
    values.push_back(order.at(begin + i).index);
  return values;
}

TEST(SampleOrder, SeedAndEpochChangeIt) {
  SampleOrder order(1000, 1);
  EXPECT_EQ(prefix(order, 0), prefix(SampleOrder(1000, 1), 0));
  EXPECT_NE(prefix(order, 0), prefix(SampleOrder(1000, 2), 0));
  EXPECT_NE(prefix(order, 0), prefix(order, 1000));
}

/// Neighbours in the order are as far apart as chance has it.
TEST(SampleOrder, LooksShuffled) {
  SampleOrder order(10000, 3);
  double distance = 0;
  int rising = 0;
  for (int64_t i = 0; i + 1 < 10000; ++i) {
    int64_t step = order.at(i + 1).index - order.at(i).index;
    distance += static_cast<double>(std::abs(step));
    rising += step > 0;
  }
  EXPECT_NEAR(distance / 9999, 10000 / 3.0, 150);
  EXPECT_NEAR(rising / 9999.0, 0.5, 0.02);
}

TEST(SampleOrder, FileOrder) {
  SampleOrder order = SampleOrder::inFileOrder(3);
  for (int64_t i = 0; i < 7; ++i)
    EXPECT_EQ(order.at(i), (Sample{i % 3, -1}));
}

TEST(SampleOrder, HugeSetsNeedNoMemory) {
  SampleOrder order(int64_t{1} << 40, 5);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i)
    seen.insert(order.at((int64_t{1} << 39) + i).index);
  EXPECT_EQ(seen.size(), 1000u);
}
