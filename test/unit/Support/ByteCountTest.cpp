//===- ByteCountTest.cpp - Tests of amounts of memory ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/ByteCount.h"
#include "gtest/gtest.h"

using namespace smp;

TEST(ByteCount, TakesTheLargestUnitThatFits) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1.0 KiB");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(12 << 20), "12.0 MiB");
  EXPECT_EQ(formatBytes(int64_t(3) << 30), "3.00 GiB");
  EXPECT_EQ(formatBytes(int64_t(5) << 50), "5120.00 TiB");
}

TEST(ByteCount, NeverRoundsToOneOfTheNextUnit) {
  EXPECT_EQ(formatBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(formatBytes((int64_t(1) << 30) - 1), "1.00 GiB");
}
