//===- NearestNameTest.cpp - Tests of the nearest name --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/NearestName.h"

#include <gtest/gtest.h>

namespace smp {
namespace {

TEST(NearestName, EditDistance) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("same", "same"), 0u);
}

TEST(NearestName, FindsASlipAndNothingElse) {
  const std::vector<std::string_view> names = {"microbatches", "optimizer",
                                               "optimize", "seed"};
  EXPECT_EQ(nearestName("microbatch", names), "microbatches");
  EXPECT_EQ(nearestName("optimise", names), "optimize");
  EXPECT_EQ(nearestName("sede", names), "seed");
  EXPECT_EQ(nearestName("pipeline", names), std::nullopt);
}

} // namespace
} // namespace smp
