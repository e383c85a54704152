//===- BatchesTest.cpp - The batches of an epoch --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Data/Batches.h"
#include <gtest/gtest.h>
#include <vector>

using namespace smp::runtime;

namespace {

/// The first batches from `position` on, one sample at a time.
std::vector<Batch> walk(int64_t samples, int64_t rows, bool dropLast,
                        int64_t position, int count) {
  std::vector<Batch> batches;
  while (static_cast<int>(batches.size()) < count) {
    Batch batch{position, 0};
    do
      ++position, ++batch.rows;
    while (batch.rows < rows && position % samples != 0);
    if (batch.rows == rows || !dropLast)
      batches.push_back(batch);
  }
  return batches;
}

} // namespace

TEST(BatchesTest, TheLastOfAnEpochHasWhatRemains) {
  Batches batches(10, 4, false);
  EXPECT_EQ(batches.after(0, 1), (Batch{4, 4}));
  EXPECT_EQ(batches.after(0, 2), (Batch{8, 2}));
  EXPECT_EQ(batches.after(0, 3), (Batch{10, 4}));
  EXPECT_EQ(batches.after(8, 0), (Batch{8, 2}));
  EXPECT_EQ(batches.after(9, 1), (Batch{10, 4}));
}

TEST(BatchesTest, ARaggedLastOneIsLeftOut) {
  Batches batches(10, 4, true);
  EXPECT_EQ(batches.after(0, 2), (Batch{10, 4}));
  EXPECT_EQ(batches.after(8, 0), (Batch{10, 4}));
}

TEST(BatchesTest, AnEpochOfFewerSamplesThanABatch) {
  Batches batches(3, 8, false);
  EXPECT_EQ(batches.after(0, 0), (Batch{0, 3}));
  EXPECT_EQ(batches.after(0, 5), (Batch{15, 3}));
}

TEST(BatchesTest, AreAsCountedOneByOne) {
  for (int64_t samples = 1; samples <= 13; ++samples)
    for (int64_t rows = 1; rows <= 6; ++rows)
      for (bool dropLast : {false, true})
        for (int64_t position :
             {int64_t(0), int64_t(1), samples, 2 * samples - 1}) {
          if (dropLast && samples < rows)
            continue;
          auto expected = walk(samples, rows, dropLast, position, 40);
          Batches batches(samples, rows, dropLast);
          for (int i = 0; i < 40; ++i)
            EXPECT_EQ(batches.after(position, i), expected[i])
                << samples << " samples, " << rows << " rows, batch " << i
                << " from " << position;
        }
}
