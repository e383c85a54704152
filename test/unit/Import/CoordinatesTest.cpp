//===- CoordinatesTest.cpp - Tests of coordinate functions ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include <gtest/gtest.h>
#include <limits>

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

TEST(Coordinates, complementTurnsOneInequality) {
  Elements causal = isNotNegative(minus(row(), column()), kSquare);
  Affine later = minus(column(), row());
  later.constant = -1;
  EXPECT_EQ(complement(causal, kSquare), isNotNegative(later, kSquare));
  EXPECT_EQ(complement(complement(causal, kSquare), kSquare), causal);
  Elements diagonal = isZero(minus(row(), column()), kSquare);
  EXPECT_EQ(complement(diagonal, kSquare), Elements::unknown());
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
