//===- DataTypeTest.cpp - Element types of tensors ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/DataType.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace smp;

static constexpr DataType all[] = {DataType::F64, DataType::F32, DataType::BF16,
                                   DataType::F16, DataType::I64, DataType::I32,
                                   DataType::U8,  DataType::Bool};

TEST(DataType, NamesRoundTrip) {
  for (DataType type : all) {
    EXPECT_EQ(*parseDataType(dataTypeName(type)), type);
    EXPECT_EQ(*parseSafetensorsName(safetensorsName(type)), type);
  }
  auto unknown = parseDataType("f8");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().str(),
            "expects an element type, got 'f8'\n  note: known types: f64, f32, "
            "bf16, f16, i64, i32, u8, bool");
}

TEST(DataType, ElementCountRefusesWhatDoesNotFit) {
  std::vector<int64_t> scalar, good = {2, 3}, zero = {0, int64_t{1} << 62};
  std::vector<int64_t> negative = {2, -1}, big = {int64_t{1} << 40, 1 << 21};
  EXPECT_EQ(*elementCount(scalar, DataType::F64), 1);
  EXPECT_EQ(*elementCount(good, DataType::F64), 6);
  EXPECT_EQ(*elementCount(zero, DataType::U8), 0);
  EXPECT_FALSE(elementCount(negative, DataType::U8));
  EXPECT_FALSE(elementCount(big, DataType::F64));
}

/// Every 16-bit pattern survives a trip through f32 and f64.
TEST(DataType, HalvesRoundTrip) {
  for (DataType type : {DataType::BF16, DataType::F16})
    for (DataType wide : {DataType::F32, DataType::F64})
      for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        auto narrow = static_cast<uint16_t>(bits);
        double buffer = 0;
        uint16_t back = 0;
        convertElements(type, &narrow, wide, &buffer, 1);
        convertElements(wide, &buffer, type, &back, 1);
        double value = wide == DataType::F64
                           ? buffer
                           : std::bit_cast<std::array<float, 2>>(buffer)[0];
        if (!std::isnan(value))
          ASSERT_EQ(back, narrow) << value;
      }
}

static uint16_t narrow(DataType type, double value) {
  uint16_t bits = 0;
  convertElements(DataType::F64, &value, type, &bits, 1);
  return bits;
}

TEST(DataType, RoundsToNearestEven) {
  EXPECT_EQ(narrow(DataType::BF16, 1.0), 0x3F80);
  EXPECT_EQ(narrow(DataType::BF16, 1.0 + 0x1p-8), 0x3F80); // tie, even
  EXPECT_EQ(narrow(DataType::BF16, 1.0 + 3 * 0x1p-8), 0x3F82);
  EXPECT_EQ(narrow(DataType::BF16, 1.0 + 0x1p-8 + 0x1p-40), 0x3F81);
  EXPECT_EQ(narrow(DataType::BF16, 3.4e38), 0x7F80); // rounds to infinity
  EXPECT_EQ(narrow(DataType::F16, 65504), 0x7BFF);
  EXPECT_EQ(narrow(DataType::F16, 65519.99), 0x7BFF);
  EXPECT_EQ(narrow(DataType::F16, 65520), 0x7C00);
  EXPECT_EQ(narrow(DataType::F16, -1e9), 0xFC00);
  EXPECT_EQ(narrow(DataType::F16, 0x1p-24), 0x0001);
  EXPECT_EQ(narrow(DataType::F16, 0x1p-25), 0x0000);
  EXPECT_EQ(narrow(DataType::F16, -0.0), 0x8000);
  EXPECT_EQ(narrow(DataType::BF16, std::nan("")) & 0x7FC0, 0x7FC0);
}

TEST(DataType, IntegersKeepAllBits) {
  int64_t big = (int64_t{1} << 60) + 1, back = 0;
  convertElements(DataType::I64, &big, DataType::I64, &back, 1);
  EXPECT_EQ(back, big);
  int32_t narrowed = 0;
  int64_t small = -5;
  convertElements(DataType::I64, &small, DataType::I32, &narrowed, 1);
  EXPECT_EQ(narrowed, -5);
  uint8_t truth = 0;
  float half = 0.5f;
  convertElements(DataType::F32, &half, DataType::Bool, &truth, 1);
  EXPECT_EQ(truth, 1);
}
