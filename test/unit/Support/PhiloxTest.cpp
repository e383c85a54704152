//===- PhiloxTest.cpp - Counter-based random numbers ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Philox.h"
#include <gtest/gtest.h>
#include <set>

using namespace smp;

TEST(Philox, KnownAnswers) {
  // Random123's kat_vectors, philox4x32 with 7 rounds.
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x5F6FB709, 0x0D893F64, 0x4F121F81,
                                     0x4F730A48}));
  EXPECT_EQ(philox4x32({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF},
                       {0xFFFFFFFF, 0xFFFFFFFF}),
            (std::array<uint32_t, 4>{0x5207DDC2, 0x45165E59, 0x4D8EE751,
                                     0x8C52F662}));
  EXPECT_EQ(philox4x32({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344},
                       {0xA4093822, 0x299F31D0}),
            (std::array<uint32_t, 4>{0x4DFCCABA, 0x190A87F0, 0xC47362BA,
                                     0xB6B5242A}));
}

TEST(Philox, EveryCoordinateMatters) {
  std::set<float> values;
  for (uint64_t element : {uint64_t{0}, uint64_t{1}, uint64_t{4} << 32})
    for (uint64_t sample : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 32})
      for (uint64_t site : {0, 1})
        for (uint64_t seed : {0, 1})
          values.insert(philoxUniform(philoxKey(seed, site), sample, element));
  EXPECT_EQ(values.size(), 36u);
}

TEST(Philox, UniformIsInTheUnitIntervalAndEven) {
  double sum = 0;
  PhiloxKey key = philoxKey(1, 2);
  for (int i = 0; i < 40000; ++i) {
    float u = philoxUniform(key, 3, i);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    sum += u;
  }
  EXPECT_NEAR(sum / 40000, 0.5, 0.01);
  EXPECT_LT(uniformFromWord(0xFFFFFFFF), 1.0f);
}
