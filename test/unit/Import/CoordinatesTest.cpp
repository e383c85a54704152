//===- CoordinatesTest.cpp - Tests of coordinate functions ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace smp;

namespace {

const std::vector<int64_t> kSquare = {4, 4};

Affine row() { return Affine::coordinate(0, 2); }
Affine column() { return Affine::coordinate(1, 2); }
Affine minus(const Affine &a, const Affine &b) {
  return *add(a, *scale(b, -1));
}

TEST(Coordinates, inequalitiesThatAlwaysHoldAreTrue) {
  EXPECT_EQ(isNotNegative(column(), kSquare).asBoolean(), true);
  Affine below = column();
  below.constant = -4;
  EXPECT_EQ(isNotNegative(below, kSquare).asBoolean(), false);
  EXPECT_EQ(isNotNegative(minus(row(), column()), kSquare).asBoolean(),
            std::nullopt);
}

TEST(Coordinates, equalConditionsAreEqual) {
  Elements causal = isNotNegative(minus(row(), column()), kSquare);
  Affine twice = *scale(minus(row(), column()), 2);
  EXPECT_EQ(isNotNegative(twice, kSquare), causal);
  // 2 (q - k) + 1 >= 0 is q - k >= -1/2, which for integers is q - k >= 0.
  twice.constant = 1;
  EXPECT_EQ(isNotNegative(twice, kSquare), causal);
  twice.constant = -1;
  EXPECT_NE(isNotNegative(twice, kSquare), causal);
  EXPECT_EQ(conjunction(causal, causal, kSquare), causal);
  EXPECT_EQ(conjunction(causal, Elements::ofBoolean(true), kSquare), causal);
  EXPECT_EQ(
      conjunction(causal, Elements::ofBoolean(false), kSquare).asBoolean(),
      false);
}

TEST(Coordinates, complementTurnsInequalities) {
  Elements causal = isNotNegative(minus(row(), column()), kSquare);
  Affine later = minus(column(), row());
  later.constant = -1;
  EXPECT_EQ(complement(causal, kSquare), isNotNegative(later, kSquare));
  EXPECT_EQ(complement(complement(causal, kSquare), kSquare), causal);
  Elements diagonal = isZero(minus(row(), column()), kSquare);
  Elements off = complement(diagonal, kSquare);
  EXPECT_EQ(off.alternatives.size(), 2u);
  EXPECT_EQ(complement(off, kSquare), diagonal);
}

/// A random predicate and, for each place, whether it holds there.
struct Predicate {
  Elements elements;
  std::vector<bool> truth;
};

/// Three quarters of them hold in some places only.
Predicate randomPredicate(std::mt19937_64 &random, int depth) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Predicate result;
  auto fill = [&](auto value) {
    for (int64_t q = 0; q < 4; ++q)
      for (int64_t k = 0; k < 4; ++k)
        result.truth.push_back(value(q, k));
  };
  if (depth == 0) {
    Affine function{pick(-6, 6), {pick(-2, 2), pick(-2, 2)}};
    result.elements = isNotNegative(function, kSquare);
    fill([&](int64_t q, int64_t k) {
      return function.constant + function.coefficients[0] * q +
                 function.coefficients[1] * k >=
             0;
    });
    return result;
  }
  Predicate a = randomPredicate(random, depth - 1);
  Predicate b = randomPredicate(random, depth - 1);
  int64_t kind = pick(0, 2);
  result.elements = kind == 0   ? conjunction(a.elements, b.elements, kSquare)
                    : kind == 1 ? disjunction(a.elements, b.elements, kSquare)
                                : complement(a.elements, kSquare);
  fill([&](int64_t q, int64_t k) {
    bool left = a.truth[q * 4 + k], right = b.truth[q * 4 + k];
    return kind == 0 ? left && right : kind == 1 ? left || right : !left;
  });
  return result;
}

TEST(Coordinates, logicHoldsAtEveryPlace) {
  std::mt19937_64 random(5);
  int known = 0;
  for (int round = 0; round < 3000; ++round) {
    Predicate predicate = randomPredicate(random, round % 4);
    if (!predicate.elements.isBoolean())
      continue;
    ++known;
    for (int64_t q = 0; q < 4; ++q)
      for (int64_t k = 0; k < 4; ++k)
        ASSERT_EQ(predicate.elements.holdsAt(std::vector<int64_t>{q, k}),
                  predicate.truth[q * 4 + k])
            << "round " << round;
  }
  EXPECT_GT(known, 2500);
}

TEST(Coordinates, sizeOneHasCoordinateZero) {
  std::vector<int64_t> flat = {1, 4};
  Elements elements = Elements::ofInteger(row(), flat);
  EXPECT_EQ(elements.integer.asConstant(), 0);
}

TEST(Coordinates, substitutionComposes) {
  // x1 of [4, 4], seen transposed, is x0.
  Elements elements = Elements::ofInteger(column(), kSquare);
  std::vector<Affine> transposed = {column(), row()};
  EXPECT_EQ(elements.at(transposed, kSquare).integer, row());
}

TEST(Coordinates, unknownWhenNumbersLeave64Bits) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(scale(Affine::number(kMax, 2), 2));
  EXPECT_FALSE(add(Affine::number(kMax, 2), Affine::number(1, 2)));
  Affine steep = column();
  steep.coefficients[1] = kMax / 2;
  EXPECT_EQ(Elements::ofInteger(steep, kSquare), Elements::unknown());
}

} // namespace
