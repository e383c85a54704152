//===- WeightsTest.cpp - Initial weights from a file ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Checkpoint/Weights.h"
#include <cstdio>
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::runtime;

namespace {
class Weights : public testing::Test {
protected:
  std::string path = testing::TempDir() + "smp-weights-test.safetensors";
  std::vector<float> a = std::vector<float>(6), b = std::vector<float>(2);

  void SetUp() override {
    std::vector<double> wide = {1, 2, 3, 4, 5, 6};
    std::vector<uint16_t> half = {0x3F80, 0x4040}; // bf16 1 and 3
    std::vector<int64_t> mask = {1};
    ASSERT_TRUE(writeSafetensors(
        path,
        {{"lm_head.weight",
          DataType::F64,
          {2, 3},
          std::as_bytes(std::span(wide))},
         {"b", DataType::BF16, {2}, std::as_bytes(std::span(half))},
         {"attn.mask", DataType::I64, {1}, std::as_bytes(std::span(mask))}}));
  }
  void TearDown() override { std::remove(path.c_str()); }
  std::vector<WeightTarget> targets() {
    return {
        {{"wte.weight", DataType::F32, {2, 3}, a.data()}, {"lm_head.weight"}},
        {{"b", DataType::F32, {2}, b.data()}, {}}};
  }
};
} // namespace

TEST_F(Weights, AliasesAndConversion) {
  auto unused = loadWeights(path, targets());
  ASSERT_TRUE(unused) << unused.error().str();
  EXPECT_EQ(a, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(b, (std::vector<float>{1, 3}));
  EXPECT_EQ(*unused, std::vector<std::string>{"attn.mask"});
}

TEST_F(Weights, StatesMayBeMissing) {
  auto all = targets();
  float kept = 7;
  all.push_back({{"running_mean", DataType::F32, {1}, &kept}, {}, true});
  int64_t mask = 0;
  all.push_back({{"attn.mask", DataType::I64, {1}, &mask}, {}, true});
  auto unused = loadWeights(path, all);
  ASSERT_TRUE(unused) << unused.error().str();
  EXPECT_EQ(kept, 7);
  EXPECT_EQ(mask, 1);
  EXPECT_TRUE(unused->empty());
}

TEST_F(Weights, EverythingWrongInOneError) {
  auto all = targets();
  all[0].target.shape = {3, 2};
  all[0].target.name = "w";
  all.push_back({{"missing.bias", DataType::F32, {1}, a.data()}, {}});
  all.push_back({{"attn.mask", DataType::F32, {1}, a.data()}, {}});
  auto result = loadWeights(path, all);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().str(),
            "'" + path +
                "' expects every parameter of the model, got 3 that are "
                "missing or misshapen: 'w' expects shape [3, 2], got [2, 3]; "
                "'missing.bias' is missing; 'attn.mask' expects f32, got i64\n"
                "  note: names are PyTorch's, as in the model's state_dict");
  EXPECT_EQ(a, std::vector<float>(6)); // nothing half done where it counts
}

TEST_F(Weights, LongListsAreCut) {
  std::vector<WeightTarget> many;
  many.reserve(30);
  for (int i = 0; i < 30; ++i)
    many.push_back(
        {{"m" + std::to_string(i), DataType::F32, {1}, a.data()}, {}});
  auto result = loadWeights(path, many);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("'m9' is missing; and 20 more"),
            std::string::npos);
}

TEST_F(Weights, NoFile) {
  EXPECT_FALSE(loadWeights("/nonexistent", targets()));
}
