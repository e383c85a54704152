//===- DatasetTest.cpp - Samples of a training or evaluation file ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Data/Dataset.h"
#include "Fixtures/TemporaryPath.h"
#include "smp/Support/MappedFile.h"
#include "smp/Support/Safetensors.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

namespace {
class Datasets : public testing::Test {
protected:
  std::string path = test::temporaryPath("dataset");

  template <typename T> void write(const std::vector<T> &tokens) {
    ASSERT_TRUE(writeFileAtomically(
        path, {reinterpret_cast<const char *>(tokens.data()),
               tokens.size() * sizeof(T)}));
  }
  static std::vector<int64_t> row(const Dataset &data, const InputSpec &input,
                                  Sample sample) {
    std::vector<int64_t> values(*elementCount(input.rowShape, input.type));
    Status status = data.read(input, {&sample, 1}, values.data());
    EXPECT_TRUE(status) << status.error().str();
    return values;
  }
  std::string openError(const TokenOptions &options) {
    auto data = openTokens(path, options);
    EXPECT_FALSE(data);
    return data ? "" : data.error().message;
  }
};
using Row = std::vector<int64_t>;
} // namespace

static const InputSpec ids = {
    "input_ids", InputRole::Input, DataType::I64, {3}};
static const InputSpec labels = {
    "labels", InputRole::Label, DataType::I64, {3}};
static const InputSpec weight = {
    "row_weight", InputRole::RowWeight, DataType::F32, {}};

TEST_F(Datasets, HfLabelsAreTheTokens) {
  write<uint8_t>({0, 1, 2, 3, 4, 5, 6, 7});
  auto data = openTokens(path, {.sequenceLength = 3, .vocabulary = 8});
  ASSERT_TRUE(data) << data.error().str();
  EXPECT_EQ((*data)->size(), 2);
  EXPECT_EQ(row(**data, ids, {1, -1}), (Row{3, 4, 5}));
  EXPECT_EQ(row(**data, labels, {1, -1}), (Row{3, 4, 5}));
}

TEST_F(Datasets, NextTokenLabelsAreShifted) {
  write<uint16_t>({0, 1, 2, 3, 4, 5, 6});
  auto data = openTokens(path, {.sequenceLength = 3,
                                .convention = TokenConvention::NextToken,
                                .width = 2});
  ASSERT_TRUE(data);
  EXPECT_EQ((*data)->size(), 2);
  EXPECT_EQ(row(**data, ids, {1, -1}), (Row{3, 4, 5}));
  EXPECT_EQ(row(**data, labels, {1, -1}), (Row{4, 5, 6}));
}

TEST_F(Datasets, WidthFollowsTheName) {
  path += ".u32";
  write<uint32_t>({70000, 1, 2});
  auto data = openTokens(path, {.sequenceLength = 3});
  ASSERT_TRUE(data);
  EXPECT_EQ(row(**data, ids, {0, -1}), (Row{70000, 1, 2}));
  InputSpec narrow = ids;
  narrow.type = DataType::I32;
  int32_t values[3];
  Sample sample{0, -1};
  ASSERT_TRUE((*data)->read(narrow, {&sample, 1}, values));
  EXPECT_EQ(values[0], 70000);
}

TEST_F(Datasets, NameTellsTheWidthOfALargeVocabulary) {
  write<uint8_t>({0, 1, 2});
  EXPECT_EQ(openError({.sequenceLength = 3, .vocabulary = 257}),
            "'" + path +
                "' expects a name that tells the width of its tokens, as the "
                "vocabulary of 257 exceeds bytes, got none");
  EXPECT_TRUE(openTokens(path, {.sequenceLength = 3, .vocabulary = 256}));
  EXPECT_TRUE(
      openTokens(path, {.sequenceLength = 3, .vocabulary = 257, .width = 1}));
  path += ".u8";
  write<uint8_t>({0, 1, 2});
  EXPECT_TRUE(openTokens(path, {.sequenceLength = 3, .vocabulary = 257}));
}

TEST_F(Datasets, PaddingWeighsNothing) {
  write<uint8_t>({9, 9, 9});
  auto data = openTokens(path, {.sequenceLength = 3});
  ASSERT_TRUE(data);
  Sample samples[] = {{0, -1}, {0, -1, true}, {0, -1}};
  int64_t values[9];
  float weights[3];
  ASSERT_TRUE((*data)->read(ids, samples, values));
  ASSERT_TRUE((*data)->read(weight, samples, weights));
  EXPECT_EQ(Row(values, values + 9), (Row{9, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(std::vector<float>(weights, weights + 3),
            (std::vector<float>{1, 0, 1}));
}

TEST_F(Datasets, WindowsOfAnEpochNeverOverlapOrLeaveTheFile) {
  std::vector<uint16_t> tokens(1000);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<uint16_t>(i);
  write(tokens);
  InputSpec wide = ids;
  wide.rowShape = {64};
  auto data = openTokens(path, {.sequenceLength = 64, .width = 2, .seed = 3});
  ASSERT_TRUE(data);
  std::set<int64_t> starts;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    starts.insert(row(**data, wide, {0, epoch})[0]);
    for (int64_t i = 0; i + 1 < (*data)->size(); ++i)
      EXPECT_EQ(row(**data, wide, {i, epoch})[63] + 1,
                row(**data, wide, {i + 1, epoch})[0]);
  }
  EXPECT_GT(starts.size(), 5u);
  EXPECT_EQ(row(**data, wide, {0, -1})[0], 0);
}

TEST_F(Datasets, TokenOutOfRange) {
  write<uint8_t>({0, 1, 2, 3, 200, 5});
  EXPECT_EQ(openError({.sequenceLength = 3, .vocabulary = 100}),
            "'" + path +
                "' expects tokens below the vocabulary 100, got 200 at "
                "position 4");
}

TEST_F(Datasets, AFileThatIsCutShortIsNotReadAsZeros) {
  write<uint8_t>({1, 2, 3, 4, 5, 6});
  auto data = openTokens(path, {.sequenceLength = 3});
  ASSERT_TRUE(data);
  ASSERT_EQ(truncate(path.c_str(), 4), 0);
  Sample last = {1, -1};
  Row values(3);
  Status status = (*data)->read(ids, {&last, 1}, values.data());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "'" + path +
                "' expects to keep its 6 bytes while it is in use, "
                "got 4");
  // One that was removed is still there for who has it open.
  write<uint8_t>({1, 2, 3, 4, 5, 6});
  data = openTokens(path, {.sequenceLength = 3});
  std::remove(path.c_str());
  EXPECT_EQ(row(**data, ids, last), (Row{4, 5, 6}));
}

TEST_F(Datasets, TooShort) {
  write<uint8_t>({0, 1, 2});
  EXPECT_EQ(openError({.sequenceLength = 4}),
            "'" + path +
                "' expects at least 4 tokens, one sequence of 4, got 3");
  EXPECT_EQ(openError({.sequenceLength = 3,
                       .convention = TokenConvention::NextToken}),
            "'" + path +
                "' expects at least 4 tokens, one sequence of 3 and the token "
                "after it, got 3");
  EXPECT_EQ(openError({.sequenceLength = 1, .width = 2}),
            "'" + path + "' expects whole tokens of 2 bytes, got 3 bytes");
  openError({.sequenceLength = 0});
  openError({.sequenceLength = 1, .width = 3});
  write<uint8_t>({});
  openError({.sequenceLength = 1});
  path = "/nonexistent";
  openError({.sequenceLength = 1});
}

TEST_F(Datasets, WrongRequests) {
  write<uint8_t>({0, 1, 2});
  auto data = openTokens(path, {.sequenceLength = 3});
  ASSERT_TRUE(data);
  int64_t values[8];
  Sample beyond{1, 0}, first{0, 0};
  EXPECT_FALSE((*data)->read(ids, {&beyond, 1}, values));
  InputSpec wrong = ids;
  wrong.rowShape = {4};
  EXPECT_FALSE((*data)->read(wrong, {&first, 1}, values));
}

static const InputSpec x = {"x", InputRole::Input, DataType::F32, {2}};
static const InputSpec y = {"y", InputRole::Label, DataType::I64, {}};

TEST_F(Datasets, ArraysByName) {
  std::vector<double> xs = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> ys = {7, 8, 9};
  ASSERT_TRUE(writeSafetensors(
      path, {{"x", DataType::F64, {3, 2}, std::as_bytes(std::span(xs))},
             {"y", DataType::I32, {3}, std::as_bytes(std::span(ys))}}));
  const InputSpec inputs[] = {x, y, weight};
  auto data = openArrays(path, inputs);
  ASSERT_TRUE(data) << data.error().str();
  EXPECT_EQ((*data)->size(), 3);
  Sample samples[] = {{2, 0}, {0, 0}};
  float rows[4];
  ASSERT_TRUE((*data)->read(x, samples, rows));
  EXPECT_EQ(std::vector<float>(rows, rows + 4),
            (std::vector<float>{5, 6, 1, 2}));
  int64_t labelRows[2];
  ASSERT_TRUE((*data)->read(y, samples, labelRows));
  EXPECT_EQ(labelRows[0], 9);
}

TEST_F(Datasets, ArraysThatDoNotFit) {
  std::vector<float> xs = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> ys = {7, 8};
  ASSERT_TRUE(writeSafetensors(
      path, {{"x", DataType::F32, {3, 2}, std::as_bytes(std::span(xs))},
             {"y", DataType::I64, {2}, std::as_bytes(std::span(ys))}}));
  auto errorOf = [&](std::vector<InputSpec> inputs) {
    auto data = openArrays(path, inputs);
    EXPECT_FALSE(data);
    return data ? "" : data.error().str();
  };
  EXPECT_EQ(errorOf({x, y}), "'" + path +
                                 "' expects as many rows of 'y' as of 'x', 3, "
                                 "got 2");
  InputSpec other = x;
  other.name = "z";
  EXPECT_EQ(errorOf({other}), "'" + path +
                                  "' expects an array 'z', got none\n"
                                  "  note: it has 'x', 'y'");
  other = x;
  other.rowShape = {3};
  EXPECT_EQ(errorOf({other}),
            "'" + path +
                "': 'x' expects rows of shape [3], got an array of shape [3, "
                "2]");
  other = x;
  other.type = DataType::I64;
  EXPECT_EQ(errorOf({other}), "'" + path + "': 'x' expects i64, got f32");
  std::ranges::fill(ys, -100);
  ASSERT_TRUE(writeSafetensors(
      path, {{"y", DataType::I64, {2}, std::as_bytes(std::span(ys))}}));
  other = y;
  other.below = 3;
  EXPECT_EQ(errorOf({other}), "'" + path +
                                  "': 'y' expects at least one label that "
                                  "counts, got only -100\n"
                                  "  note: -100 marks what no loss counts");
  path += ".csv";
  ASSERT_TRUE(writeFileAtomically(path, "1,2"));
  EXPECT_EQ(errorOf({x}), "malformed safetensors file '" + path +
                              "': expects at least 8 bytes, got 3\n"
                              "  note: this model reads arrays named as its "
                              "inputs from a safetensors file");
  errorOf({});
}

TEST_F(Datasets, ArraysOfTokens) {
  std::vector<int64_t> tokens = {1, 2, 3, 9, 5, 6}, own = {1, -100, 3, 9, 5, 6};
  ASSERT_TRUE(writeSafetensors(
      path,
      {{"input_ids", DataType::I64, {2, 3}, std::as_bytes(std::span(tokens))},
       {"labels", DataType::I64, {2, 3}, std::as_bytes(std::span(own))}}));
  InputSpec inputs[] = {ids, labels};
  inputs[0].below = inputs[1].below = 10;
  EXPECT_TRUE(openArrays(path, inputs));
  inputs[0].below = 9; // each input has its own
  auto data = openArrays(path, inputs);
  ASSERT_FALSE(data);
  EXPECT_EQ(
      data.error().str(),
      "'" + path +
          "': 'input_ids' expects integers from 0 to 8, got 9 at position 3");
  InputSpec other = labels;
  other.below = 9;
  other.ignored = 9; // by its loss, and -100 is none
  EXPECT_EQ(openArrays(path, {&other, 1}).error().str(),
            "'" + path +
                "': 'labels' expects integers from 0 to 8 or 9, got -100 at "
                "position 1");
  InputSpec both = labels;
  both.below = 10;
  both.role = InputRole::Input;
  EXPECT_FALSE(openArrays(path, {&both, 1})); // only labels are ignored
  both.below = 0;
  EXPECT_TRUE(openArrays(path, {&both, 1}));
}

TEST(DatasetNames, Parse) {
  EXPECT_EQ(*parseInputRole("row_weight"), InputRole::RowWeight);
  EXPECT_FALSE(parseInputRole("rows"));
  EXPECT_EQ(*parseTokenConvention("next-token"), TokenConvention::NextToken);
  EXPECT_EQ(*parseTokenConvention("hf"), TokenConvention::Hf);
  EXPECT_FALSE(parseTokenConvention("shifted"));
}
