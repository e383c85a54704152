//===- JsonTest.cpp - Reading JSON that others wrote ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Json.h"
#include <gtest/gtest.h>

using namespace smp;

TEST(Json, ErrorsHaveAPlace) {
  auto parsed = parseJson("{\n  \"a\": 1,\n  b\n}", "configuration 'x'");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "configuration 'x' expects JSON, got "
                                    "something else at line 3, column 3");
  EXPECT_FALSE(parseJson("", "x"));
  EXPECT_FALSE(parseJson("{} {}", "x"));
}

TEST(Json, DepthIsLimited) {
  auto parsed = parseJson(std::string(1000000, '['), "header");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message,
            "header expects JSON nested at most 100 levels deep, got more");
  EXPECT_TRUE(parseJson(std::string(100, '[') + std::string(100, ']'), "x"));
}

TEST(Json, AKeyComesOnce) {
  auto twice =
      parseJson(R"([{"a": 1, "b": {"a": 2}}, {"a": {}, "a": 3}])", "x");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message,
            "x expects each key of an object once, got 'a' twice");
  EXPECT_TRUE(parseJson(R"([{"a": 1, "b": {"a": 2}}, {"a": {}}])", "x"));
}

TEST(Json, LongValuesAreShortened) {
  EXPECT_EQ(shortText(3), "3");
  EXPECT_EQ(shortText(std::string(100, 'x')),
            "\"" + std::string(59, 'x') + "...");
  EXPECT_TRUE(shortText("\xff").size());
}
