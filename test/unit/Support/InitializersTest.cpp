//===- InitializersTest.cpp - Initial values of parameters ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Initializers.h"
#include "smp/Support/Json.h"
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace smp;

static Initializer make(const char *text) {
  auto json = parseJson(text, "test");
  auto initializer = Initializer::fromJson(*json);
  EXPECT_TRUE(initializer) << text;
  return *initializer;
}

static std::vector<float> values(const char *text, int64_t begin, size_t count,
                                 uint64_t seed = 0) {
  std::vector<float> out(count);
  initialize(make(text), seed, "transformer.wte.weight", begin, out);
  return out;
}

TEST(Initializers, Constant) {
  EXPECT_EQ(values(R"({"kind":"constant","value":1.5})", 3, 2),
            (std::vector<float>{1.5f, 1.5f}));
}

TEST(Initializers, AnySliceGivesTheSameElements) {
  for (const char *text : {R"({"kind":"normal","mean":0.0,"std":0.02})",
                           R"({"kind":"uniform","low":-1,"high":2})"}) {
    auto whole = values(text, 0, 100);
    for (int64_t begin : {1, 7, 50}) {
      auto part = values(text, begin, 13);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin));
    }
    EXPECT_NE(whole, values(text, 0, 100, 1));
  }
}

TEST(Initializers, NormalHasItsMoments) {
  auto sample = values(R"({"kind":"normal","mean":1.0,"std":2.0})", 0, 100000);
  double sum = 0, squares = 0;
  for (float x : sample) {
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += double(x) * x;
  }
  double mean = sum / sample.size();
  EXPECT_NEAR(mean, 1.0, 0.03);
  EXPECT_NEAR(squares / sample.size() - mean * mean, 4.0, 0.08);
}

TEST(Initializers, UniformStaysInItsBounds) {
  for (float x :
       values(R"({"kind":"uniform","low":-0.5,"high":0.25})", 0, 999)) {
    EXPECT_GE(x, -0.5f);
    EXPECT_LT(x, 0.25f);
  }
}

TEST(Initializers, ReferenceIsTheStatedFunction) {
  // u of element 0 of "w", computed by hand from FNV-1a and SplitMix64 by an
  // independent script.
  std::vector<float> out(2);
  initializeReference("w", 2, 0, out);
  EXPECT_FLOAT_EQ(out[0], 0.07941086292266847f);
  EXPECT_FLOAT_EQ(out[1], -0.044028413295745854f);
  initializeReference("ln.weight", 1, 0, out);
  EXPECT_FLOAT_EQ(out[0], 1.0172375202178956f);
  initializeReference("ln.bias", 1, 5, out);
  EXPECT_FLOAT_EQ(out[0], -0.03969024419784546f);
}

TEST(Initializers, Malformed) {
  for (const char *text :
       {"[]", "{}", R"({"kind":"he"})", R"({"kind":1})",
        R"({"kind":"normal","mean":0})", R"({"kind":"constant","value":"1"})"})
    EXPECT_FALSE(Initializer::fromJson(*parseJson(text, "test"))) << text;
}
