//===- TensorTest.cpp - The values of the interpreter ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Tensor.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::interpret;

static Tensor floats(Shape shape, std::vector<double> values) {
  return Tensor(DataType::F32, std::move(shape), std::move(values));
}

TEST(Tensor, CopiesShareUntilOneChanges) {
  Tensor first = floats({2}, {1, 2}), second = first;
  EXPECT_EQ(first.floats().data(), second.floats().data());
  second.mutableFloats()[0] = 5;
  EXPECT_EQ(first.floats()[0], 1);
  EXPECT_EQ(second.floats()[0], 5);
}

TEST(Tensor, RoundsToItsType) {
  Tensor single = floats({1}, {0.1});
  single.roundToType();
  EXPECT_EQ(single.floats()[0], static_cast<double>(0.1f));
  Tensor brain(DataType::BF16, {2}, std::vector<double>{1.00390625, 3.0e38});
  brain.roundToType();
  EXPECT_EQ(brain.floats()[0], 1.0); // a tie goes to the even neighbour
  EXPECT_TRUE(std::isfinite(brain.floats()[1]));
  Tensor half(DataType::F16, {1}, std::vector<double>{1e6});
  half.roundToType();
  EXPECT_TRUE(std::isinf(half.floats()[0]));
  Tensor narrow(DataType::I32, {1}, std::vector<int64_t>{int64_t{1} << 31});
  narrow.roundToType();
  EXPECT_EQ(narrow.integer(), -(int64_t{1} << 31));
}

TEST(Tensor, SlicesAndConcatenatesRows) {
  Tensor whole = floats({3, 2}, {0, 1, 2, 3, 4, 5});
  std::vector<Tensor> parts = {whole.slice(0, 1), whole.slice(1, 3)};
  EXPECT_EQ(parts[1].shape(), (Shape{2, 2}));
  EXPECT_EQ(parts[1].floats()[0], 2);
  EXPECT_TRUE(identical(concatenate(parts), whole));
}

TEST(Tensor, VisitsPlacesInRowMajorOrder) {
  std::vector<int64_t> seen;
  Shape shape = {2, 3}, strides = stridesOf(shape);
  forEachPlace(shape, [&](auto place, int64_t element) {
    EXPECT_EQ(place[0] * strides[0] + place[1] * strides[1], element);
    seen.push_back(element);
  });
  EXPECT_EQ(seen.size(), 6u);
  forEachPlace(Shape{2, 0}, [](auto, int64_t) { FAIL(); });
}

TEST(Tensor, MeasuresDifferencesByTheLargestElement) {
  Tensor expected = floats({3}, {0, -4, 1});
  EXPECT_EQ(relativeDifference(expected, expected), 0);
  EXPECT_EQ(relativeDifference(floats({3}, {1, -4, 1}), expected), 0.25);
  EXPECT_TRUE(std::isinf(relativeDifference(floats({1}, {0}), expected)));
  Tensor broken = floats({3}, {0, std::nan(""), 1});
  EXPECT_TRUE(std::isinf(relativeDifference(broken, expected)));
  EXPECT_EQ(relativeDifference(broken, broken), 0);
}
