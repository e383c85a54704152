//===- InitializersTest.cpp - Initial values of parameters ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Initializers.h"
#include "smp/Support/Json.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
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

TEST(Initializers, APaddingRowIsZero) {
  const char *plain = R"({"kind":"normal","mean":0.0,"std":0.02})";
  const char *padded =
      R"({"kind":"normal","mean":0.0,"std":0.02,"zeroed":[3,5]})";
  auto expected = values(plain, 0, 8);
  expected[3] = expected[4] = 0;
  EXPECT_EQ(values(padded, 0, 8), expected);
  EXPECT_EQ(values(padded, 4, 2), (std::vector<float>{0, expected[5]}));
  for (const char *zeroed : {"[3]", "[5,3]", "[-1,3]", "3"})
    EXPECT_FALSE(Initializer::fromJson(nlohmann::json::parse(
        std::string(R"({"kind":"constant","value":1,"zeroed":)") + zeroed +
        "}")));
}

TEST(Initializers, AnySliceGivesTheSameElements) {
  for (const char *text : {R"({"kind":"normal","mean":0.0,"std":0.02})",
                           R"({"kind":"uniform","low":-1,"high":2})",
                           R"({"kind":"truncated_normal","mean":0.0,"std":1.0,
                               "low":-2,"high":2})"}) {
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

/// The share of a normal distribution between `from` and `to`, by the trapezoid
/// rule on its density: nothing that the sampling uses.
static double shareBetween(double mean, double std, double from, double to) {
  constexpr int steps = 20000;
  double sum = 0, width = (to - from) / steps;
  for (int i = 0; i <= steps; ++i) {
    double x = (from + i * width - mean) / std;
    sum += std::exp(-x * x / 2) * (i == 0 || i == steps ? 0.5 : 1);
  }
  return sum * width / std / std::sqrt(2 * M_PI);
}

TEST(Initializers, TruncatedNormalHasItsDistribution) {
  struct Case {
    double mean, std, low, high;
  };
  // Both sides, one side, far in a tail, far in the other, nearly everything.
  for (auto [mean, std, low, high] :
       {Case{0, 0.02, -0.04, 0.04}, Case{1, 2, 1.5, 9}, Case{0, 1, 6, 7},
        Case{0, 1, -9, -5}, Case{3, 0.5, -100, 100}}) {
    std::string text =
        R"({"kind":"truncated_normal","mean":)" + std::to_string(mean) +
        R"(,"std":)" + std::to_string(std) + R"(,"low":)" +
        std::to_string(low) + R"(,"high":)" + std::to_string(high) + "}";
    auto sample = values(text.c_str(), 0, 40000);
    double from = std::max(low, mean - 12 * std),
           to = std::min(high, mean + 12 * std);
    std::ranges::sort(sample);
    EXPECT_GE(sample.front(), float(low)) << text;
    EXPECT_LE(sample.back(), float(high)) << text;
    double whole = shareBetween(mean, std, from, to);
    for (int i = 1; i < 20; ++i) {
      double x = sample[sample.size() * i / 20];
      // Five standard deviations of a share of 40000 draws.
      EXPECT_NEAR(shareBetween(mean, std, from, x) / whole, i / 20.0, 0.0125)
          << text;
    }
  }
}

TEST(Initializers, TruncatedNormalWithoutSpreadIsItsMean) {
  for (float x : values(R"({"kind":"truncated_normal","mean":0.5,"std":0,
                            "low":-1,"high":1})",
                        0, 9))
    EXPECT_EQ(x, 0.5f);
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
        R"({"kind":"normal","mean":0})",
        R"({"kind":"truncated_normal","mean":0,"std":1,"low":-1})",
        R"({"kind":"constant","value":"1"})"})
    EXPECT_FALSE(Initializer::fromJson(*parseJson(text, "test"))) << text;
}
