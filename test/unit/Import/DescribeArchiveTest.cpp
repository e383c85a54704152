//===- DescribeArchiveTest.cpp - Tests of derived descriptions ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/DescribeArchive.h"
#include "ZipBuilder.h"
#include <nlohmann/json.hpp>

using namespace smp;
using namespace smp::pt2;
using namespace smp::test;
using nlohmann::json;

namespace {

json size(int64_t value) { return {{"as_int", value}}; }
json batch() {
  return {{"as_expr",
           {{"expr_str", "Symbol('s7', positive=True, integer=True)"},
            {"hint", {{"as_int", 5}}}}}};
}
json tensor(const std::string &name) {
  return {{"as_tensor", {{"name", name}}}};
}
json leaf() {
  return {{"type", nullptr},
          {"context", nullptr},
          {"children_spec", json::array()}};
}
json tree(const std::string &type, const json &context, json children) {
  return {{"type", type},
          {"context", context.dump()},
          {"children_spec", std::move(children)}};
}

/// y = relu(x), scalars a and b; tied parameters w and v, of which w is used.
class PlainArchive {
public:
  json outputs = json::array({"a", "b", "y"});
  json outputTree =
      tree("builtins.tuple", nullptr, json::array({leaf(), leaf(), leaf()}));
  json firstSize = batch();
  bool weights = true;

  Result<Description> describe(const ArchiveHints &hints = {}) const {
    Result<Pt2Archive> archive = Pt2Archive::open(fileOf(zip()));
    if (!archive)
      return archive.error();
    return describeArchive(*archive, hints);
  }

private:
  std::string zip() const {
    ZipBuilder zip;
    zip.add("m/models/model.json", graph().dump());
    zip.add("m/data/weights/model_weights_config.json", config().dump());
    zip.add("m/data/weights/weight_0", std::string(weights ? 16 : 0, '\0'));
    return zip.str();
  }

  json config() const {
    json entry = {{"path_name", "weight_0"},
                  {"tensor_meta",
                   {{"dtype", 7},
                    {"sizes", json::array({size(4)})},
                    {"strides", json::array({size(1)})},
                    {"requires_grad", false},
                    {"storage_offset", size(0)}}}};
    return {{"config", {{"m.w", entry}, {"m.v", entry}}}};
  }

  json graph() const {
    json values = {{"x", {{"dtype", 5}, {"sizes", {firstSize, size(4)}}}},
                   {"t", {{"dtype", 5}, {"sizes", {firstSize, size(4)}}}},
                   {"w", {{"dtype", 7}, {"sizes", {size(4)}}}},
                   {"v", {{"dtype", 7}, {"sizes", {size(4)}}}},
                   {"y", {{"dtype", 7}, {"sizes", {size(4)}}}},
                   {"a", {{"dtype", 7}, {"sizes", json::array()}}},
                   {"b", {{"dtype", 7}, {"sizes", json::array()}}}};
    json nodes = json::array();
    for (const char *name : {"y", "a", "b"})
      nodes.push_back({{"target", "torch.ops.aten.relu.default"},
                       {"inputs", {{{"name", "self"}, {"arg", tensor("w")}}}},
                       {"outputs", json::array({tensor(name)})},
                       {"metadata", json::object()}});
    json inputs = json::array(
        {{{"parameter", {{"arg", {{"name", "v"}}}, {"parameter_name", "m.v"}}}},
         {{"parameter", {{"arg", {{"name", "w"}}}, {"parameter_name", "m.w"}}}},
         {{"user_input", {{"arg", tensor("x")}}}},
         {{"user_input", {{"arg", tensor("t")}}}}});
    json results = json::array();
    for (const json &name : outputs)
      results.push_back({{"user_output", {{"arg", tensor(name)}}}});
    json inputTree =
        tree("builtins.tuple", nullptr,
             json::array(
                 {tree("builtins.tuple", nullptr, json::array({leaf()})),
                  tree("builtins.dict", {"targets"}, json::array({leaf()}))}));
    return {{"schema_version", {{"major", 8}, {"minor", 20}}},
            {"graph_module",
             {{"graph",
               {{"nodes", nodes},
                {"tensor_values", values},
                {"sym_int_values", json::object()}}},
              {"module_call_graph",
               {{{"fqn", ""},
                 {"signature",
                  {{"in_spec", json::array({1, inputTree}).dump()},
                   {"out_spec", json::array({1, outputTree}).dump()}}}}}},
              {"signature",
               {{"input_specs", inputs}, {"output_specs", results}}}}}};
  }
};

std::string messageOf(const Result<Description> &description) {
  return description ? "" : description.error().str();
}

TEST(DescribeArchive, namesInputsByKeywordOrPlaceholder) {
  PlainArchive archive;
  archive.outputs = json::array({"a"});
  archive.outputTree = leaf();
  Result<Description> about = archive.describe();
  ASSERT_TRUE(about) << messageOf(about);
  EXPECT_EQ(about->inputs["x"].name, "x");
  EXPECT_EQ(about->inputs["x"].role, "input");
  EXPECT_EQ(about->inputs["t"].name, "targets");
  EXPECT_EQ(about->inputs["t"].role, "label");
  about = archive.describe({.labels = {"x"}});
  EXPECT_EQ(about->inputs["x"].role, "label");
  EXPECT_EQ(about->inputs["t"].role, "input");
}

TEST(DescribeArchive, findsTheBatch) {
  PlainArchive archive;
  archive.outputs = json::array({"a"});
  Result<Description> about = archive.describe();
  EXPECT_EQ(about->batchSymbol, "s7");
  EXPECT_EQ(about->exampleBatch, 5);
  archive.firstSize = size(3);
  about = archive.describe();
  EXPECT_EQ(about->batchSymbol, "");
  EXPECT_EQ(about->exampleBatch, 3);
}

TEST(DescribeArchive, findsTheLoss) {
  PlainArchive archive;
  EXPECT_TRUE(contains(
      messageOf(archive.describe()),
      "expects one scalar output that is the loss, got 2 of the outputs "
      "'output_0', 'output_1', 'output_2'\n  note: name the loss"));
  Result<Description> about = archive.describe({.loss = "output_1"});
  const auto &ports = about->outputs["model"];
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[0].second.role, "output");
  EXPECT_EQ(ports[1].second.role, "loss");
  EXPECT_TRUE(contains(messageOf(archive.describe({.loss = "b"})),
                       "expects --loss-output to name one of 'output_0'"));
  archive.outputTree = tree("some.Output", {"loss", "more", "y"},
                            json::array({leaf(), leaf(), leaf()}));
  about = archive.describe();
  EXPECT_EQ(about->outputs["model"][0].second.name, "loss");
  EXPECT_EQ(about->outputs["model"][0].second.role, "loss");
  // One scalar needs no name; a graph without any has no loss.
  archive.outputs = json::array({"y", "b"});
  archive.outputTree =
      tree("builtins.list", nullptr, json::array({leaf(), leaf()}));
  EXPECT_EQ(archive.describe()->outputs["model"][1].second.role, "loss");
  archive.outputs = json::array({"y"});
  archive.outputTree = leaf();
  EXPECT_EQ(archive.describe()->outputs["model"][0].second.role, "output");
}

TEST(DescribeArchive, oneValueMayBeTwoOutputs) {
  PlainArchive archive;
  archive.outputs = json::array({"a", "a", "y"});
  archive.outputTree = tree("builtins.dict", {"loss", "same", "y"},
                            json::array({leaf(), leaf(), leaf()}));
  Result<Description> about = archive.describe();
  EXPECT_EQ(about->outputs["model"][0].second.role, "loss");
  EXPECT_EQ(about->outputs["model"][1].second.name, "same");
  EXPECT_EQ(about->outputs["model"][1].second.role, "output");
}

TEST(DescribeArchive, tiesNamesOfOneStorage) {
  PlainArchive archive;
  archive.outputs = json::array({"a"});
  Result<Description> about = archive.describe();
  ASSERT_EQ(about->aliases.size(), 1u);
  // The name that the graph uses comes first.
  EXPECT_EQ(about->aliases[0], (std::vector<std::string>{"m.w", "m.v"}));
  EXPECT_EQ(about->order, std::vector<std::string>{"m.w"});
  EXPECT_FALSE(about->parameters["m.w"].trainable);
  // Values that were left out share one storage and are no ties.
  archive.weights = false;
  about = archive.describe();
  EXPECT_TRUE(about->aliases.empty());
  EXPECT_EQ(about->order, (std::vector<std::string>{"m.v", "m.w"}));
}

TEST(DescribeArchive, refusesWrongNames) {
  PlainArchive archive;
  archive.outputs = json::array({"a"});
  EXPECT_TRUE(contains(messageOf(archive.describe({.labels = {"z"}})),
                       "expects --labels to name inputs out of 'x', "
                       "'targets', got 'z'"));
  EXPECT_TRUE(contains(
      messageOf(archive.describe({.convention = "other"})),
      "expects --data-convention=hf, next-token or none, got 'other'"));
}

} // namespace
