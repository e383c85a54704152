//===- SafetensorsTest.cpp - Files of named tensors -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Safetensors.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace smp;

namespace {
class Safetensors : public testing::Test {
protected:
  std::string path =
      testing::TempDir() + "smp-safetensors-test-" +
      testing::UnitTest::GetInstance()->current_test_info()->name() +
      ".safetensors";
  void TearDown() override { std::remove(path.c_str()); }

  /// Writes a file with this header and as many zero bytes of data.
  std::string openMalformed(const std::string &header, size_t dataBytes,
                            uint64_t statedBytes) {
    std::string content(8, '\0');
    std::memcpy(content.data(), &statedBytes, 8);
    content += header + std::string(dataBytes, '\0');
    EXPECT_TRUE(writeFileAtomically(path, content));
    auto file = SafetensorsFile::open(path);
    EXPECT_FALSE(file) << header;
    return file ? "" : file.error().message;
  }
  std::string openMalformed(const std::string &header, size_t dataBytes = 0) {
    return openMalformed(header, dataBytes, header.size());
  }
};

template <typename T>
TensorView view(const char *name, DataType type, std::vector<int64_t> shape,
                const std::vector<T> &values) {
  return {name, type, std::move(shape), std::as_bytes(std::span(values))};
}
} // namespace

TEST_F(Safetensors, RoundTripsEveryType) {
  std::vector<double> f64 = {1.5, -2};
  std::vector<float> f32 = {1, 2, 3, 4, 5, 6};
  std::vector<uint16_t> half = {0x3F80, 0x4000};
  std::vector<int64_t> i64 = {1, -1, int64_t{1} << 60};
  std::vector<int32_t> i32 = {7};
  std::vector<uint8_t> u8 = {1, 0, 255};
  std::vector<TensorView> tensors = {
      view("z.f64", DataType::F64, {2}, f64),
      view("f32", DataType::F32, {2, 3}, f32),
      view("bf16", DataType::BF16, {2, 1}, half),
      view("f16", DataType::F16, {2}, half),
      view("i64", DataType::I64, {3}, i64),
      view("i32", DataType::I32, {}, i32),
      view("u8", DataType::U8, {3}, u8),
      view("bool", DataType::Bool, {1, 2}, std::vector<uint8_t>{}),
      view("empty", DataType::F32, {0, 4}, std::vector<float>{})};
  std::vector<uint8_t> truth = {1, 0};
  tensors[7].data = std::as_bytes(std::span(truth));
  ASSERT_TRUE(writeSafetensors(path, tensors, {{"format", "pt"}}));
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_EQ(file->metadata().at("format"), "pt");
  ASSERT_EQ(file->tensors().size(), tensors.size());
  for (const TensorView &expected : tensors) {
    const TensorView *found = file->find(expected.name);
    ASSERT_TRUE(found) << expected.name;
    EXPECT_EQ(found->type, expected.type);
    EXPECT_EQ(found->shape, expected.shape);
    ASSERT_EQ(found->data.size(), expected.data.size());
    if (!found->data.empty())
      EXPECT_EQ(std::memcmp(found->data.data(), expected.data.data(),
                            found->data.size()),
                0);
  }
  EXPECT_EQ(file->find("bf16")->toF32(), (std::vector<float>{1, 2}));
  EXPECT_EQ(file->find("i32")->toF64(), std::vector<double>{7});
  EXPECT_EQ(file->find("i64")->toI64(), i64);
  EXPECT_EQ(file->find("missing"), nullptr);
}

TEST_F(Safetensors, MalformedHeaders) {
  ASSERT_TRUE(writeFileAtomically(path, "abc"));
  auto tiny = SafetensorsFile::open(path);
  ASSERT_FALSE(tiny);
  EXPECT_EQ(tiny.error().message, "malformed safetensors file '" + path +
                                      "': expects at least 8 bytes, got 3");
  EXPECT_NE(openMalformed("{}", 0, 100).find("expects a header within"),
            std::string::npos);
  EXPECT_NE(
      openMalformed("{}", 0, ~uint64_t{0}).find("expects a header within"),
      std::string::npos);
  for (
      const char *header :
      {"", "[]", "{", R"({"a":1})", R"({"a":{"dtype":"F32","shape":[1]}})",
       R"({"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})",
       R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})",
       R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})",
       R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})",
       R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})",
       R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})",
       R"({"__metadata__":[]})", R"({"__metadata__":{"a":1}})"})
    openMalformed(header, 8);
}

TEST_F(Safetensors, DataOutsideTheFileNamesTheTensor) {
  std::string message = openMalformed(
      R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 8);
  EXPECT_EQ(message,
            "malformed safetensors file '" + path +
                "': tensor 'w': expects offsets within the 8 bytes of data, "
                "got [0, 16)");
  message = openMalformed(
      R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,8]}})", 8);
  EXPECT_NE(message.find("expects 16 bytes for f32 [4], got 8"),
            std::string::npos);
  openMalformed(
      R"({"w":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}})",
      8);
}

TEST_F(Safetensors, BytesBelongToOneTensor) {
  std::string message =
      openMalformed(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                    8);
  EXPECT_NE(message.find("tensor 'b': expects bytes of its own"),
            std::string::npos)
      << message;
}

TEST_F(Safetensors, EveryTruncationIsAnError) {
  std::vector<float> values = {1, 2, 3};
  ASSERT_TRUE(writeSafetensors(path, {view("a", DataType::F32, {3}, values)}));
  std::string whole = *readFile(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(writeFileAtomically(path, whole.substr(0, size)));
    EXPECT_FALSE(SafetensorsFile::open(path)) << size;
  }
}

TEST_F(Safetensors, WriterRefusesWhatItCouldNotRead) {
  std::vector<float> values = {1, 2, 3};
  auto tensor = view("a", DataType::F32, {2}, values);
  auto status = writeSafetensors(path, {tensor});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "tensor 'a' expects 8 bytes for shape [2], got 12");
  tensor.shape = {3};
  EXPECT_FALSE(writeSafetensors(path, {tensor, tensor}));
  EXPECT_FALSE(writeSafetensors("/nonexistent/x", {tensor}));
}

TEST_F(Safetensors, MissingFile) {
  auto file = SafetensorsFile::open("/nonexistent/model.safetensors");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            "cannot open '/nonexistent/model.safetensors': No such file or "
            "directory");
  EXPECT_FALSE(SafetensorsFile::open("/tmp"));
}
