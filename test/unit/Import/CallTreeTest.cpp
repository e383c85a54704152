//===- CallTreeTest.cpp - Tests of the names of arguments -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallTree.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace smp::pt2;
using nlohmann::json;

namespace {

using Paths = std::vector<std::string>;

json leaf() {
  return {{"type", nullptr},
          {"context", nullptr},
          {"children_spec", json::array()}};
}
json tuple(json children) {
  return {{"type", "builtins.tuple"},
          {"context", "null"},
          {"children_spec", std::move(children)}};
}
json dict(const json &keys, json children) {
  return {{"type", "builtins.dict"},
          {"context", keys.dump()},
          {"children_spec", std::move(children)}};
}
Paths paths(const json &tree, CallSide side) {
  return callPaths(json::array({1, tree}).dump(), side);
}

TEST(CallTree, inputsByKeyword) {
  json tree = tuple(json::array(
      {tuple(json::array({leaf()})),
       dict({"ids", "more"},
            json::array({leaf(), tuple(json::array({leaf(), leaf()}))}))}));
  EXPECT_EQ(paths(tree, CallSide::Inputs),
            (Paths{"", "ids", "more.0", "more.1"}));
}

TEST(CallTree, outputs) {
  EXPECT_EQ(paths(leaf(), CallSide::Outputs), Paths{"output"});
  EXPECT_EQ(paths(tuple(json::array({leaf(), leaf()})), CallSide::Outputs),
            (Paths{"output_0", "output_1"}));
  EXPECT_EQ(paths(dict({"loss", "logits"}, json::array({leaf(), leaf()})),
                  CallSide::Outputs),
            (Paths{"loss", "logits"}));
}

TEST(CallTree, countsChildrenWhoseKeysAreNotListed) {
  EXPECT_EQ(
      paths(dict({1, 2}, json::array({leaf(), leaf()})), CallSide::Outputs),
      (Paths{"output_0", "output_1"}));
}

TEST(CallTree, textThatIsNoTreeHasNoPaths) {
  for (const char *text : {"", "[1]", "[1, {}]", R"([1, {"type": "t"}])", "7"})
    EXPECT_EQ(callPaths(text, CallSide::Outputs), Paths()) << text;
}

} // namespace
