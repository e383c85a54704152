//===- Pt2ArchiveTest.cpp - Tests of the archive reader -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Pt2Archive.h"
#include "ZipBuilder.h"
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

using namespace smp;
using namespace smp::pt2;
using namespace smp::test;
using nlohmann::json;

namespace {

/// The graph y = x + w of one parameter w of shape [2, 3].
json graphOf() {
  return json::parse(R"json({
    "schema_version": {"major": 8, "minor": 20},
    "graph_module": {
      "graph": {
        "nodes": [{
          "target": "torch.ops.aten.add.Tensor",
          "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}},
                     {"name": "other", "arg": {"as_tensor": {"name": "w"}}}],
          "outputs": [{"as_tensor": {"name": "y"}}],
          "metadata": {
            "stack_trace": "File \"a.py\", line 3, in f\nFile \"b.py\", line 7, in g",
            "nn_module_stack": "L__self__,,a.M;L__self__h,h.0@1,b.N"}}],
        "tensor_values": {
          "w": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}]},
          "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str":
            "Symbol('s0', positive=True, integer=True)"}}, {"as_int": 3}]},
          "y": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "s0"}},
                                      {"as_int": 3}]}},
        "sym_int_values": {}},
      "signature": {
        "input_specs": [
          {"parameter": {"arg": {"name": "w"}, "parameter_name": "h.w"}},
          {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
        "output_specs": [
          {"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]}}})json");
}

json weightsOf() {
  return json::parse(R"json({"config": {"h.w": {
    "path_name": "weight_0", "is_param": true, "use_pickle": false,
    "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}],
      "strides": [{"as_int": 1}, {"as_int": 2}],
      "storage_offset": {"as_int": 1}}}}})json");
}

std::string storageOf(size_t floats) {
  std::string bytes(floats * 4, '\0');
  for (size_t i = 0; i < floats; ++i) {
    float value = i;
    std::memcpy(bytes.data() + 4 * i, &value, 4);
  }
  return bytes;
}

ZipBuilder archiveOf(const std::string &graph, const std::string &weights,
                     size_t floats = 7) {
  ZipBuilder zip;
  zip.add("m/models/model.json", graph);
  zip.add("m/data/weights/model_weights_config.json", weights);
  zip.add("m/data/weights/weight_0", storageOf(floats));
  zip.add("m/byteorder", "little");
  return zip;
}

std::string messageOf(const ZipBuilder &zip) {
  Result<Pt2Archive> archive = Pt2Archive::open(fileOf(zip.str()));
  return archive ? "" : archive.error().str();
}

TEST(Pt2Archive, readsTheGraph) {
  Result<Pt2Archive> archive = Pt2Archive::open(
      fileOf(archiveOf(graphOf().dump(), weightsOf().dump()).str()));
  ASSERT_TRUE(archive) << archive.error().str();
  const ExportedGraph &graph = archive->train();
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].target, "aten.add.Tensor");
  EXPECT_EQ(graph.nodes[0].scope, "h.0");
  EXPECT_EQ(graph.nodes[0].file, "b.py");
  EXPECT_EQ(graph.nodes[0].line, 7u);
  EXPECT_EQ(graph.tensors.find("x")->second.sizes[0], SizeExpr::symbol("s0"));
  EXPECT_EQ(archive->eval(), nullptr);
  EXPECT_EQ(archive->description(), nullptr);
}

/// The node of graphOf(), inside `with torch.no_grad()`.
json regionGraphOf() {
  json graph = graphOf();
  json &outer = graph["graph_module"]["graph"];
  json inner = {
      {"inputs",
       {{{"as_tensor", {{"name", "x"}}}}, {{"as_tensor", {{"name", "w"}}}}}},
      {"outputs", {{{"as_tensor", {{"name", "y"}}}}}},
      {"nodes", outer["nodes"]},
      {"tensor_values", outer["tensor_values"]},
      {"sym_int_values", json::object()}};
  outer["nodes"] = json::parse(R"json([{
    "target": "torch.ops.higher_order.wrap_with_set_grad_enabled",
    "inputs": [{"name": "", "arg": {"as_bool": false}},
               {"name": "", "arg": {"as_graph": {"name": "submod_1"}}},
               {"name": "", "arg": {"as_tensor": {"name": "x"}}},
               {"name": "", "arg": {"as_tensor": {"name": "w"}}}],
    "outputs": [{"as_tensors": [{"name": "y"}]}],
    "metadata": {}}])json");
  outer["nodes"][0]["inputs"][1]["arg"]["as_graph"]["graph"] = inner;
  return graph;
}

TEST(Pt2Archive, inlinesRegions) {
  Result<Pt2Archive> archive = Pt2Archive::open(
      fileOf(archiveOf(regionGraphOf().dump(), weightsOf().dump()).str()));
  ASSERT_TRUE(archive) << archive.error().str();
  const std::vector<Node> &nodes = archive->train().nodes;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].target, "aten.add.Tensor");
  EXPECT_EQ(nodes[0].arguments[1].tensors[0], "w");
  EXPECT_EQ(nodes[0].line, 7u);
  EXPECT_EQ(nodes[1].target, "aten.detach.default");
  EXPECT_EQ(nodes[1].outputs[0], "y");
}

TEST(Pt2Archive, knowsADecomposedGraph) {
  for (const char *verifier : {"TRAINING", "ATEN"}) {
    json graph = graphOf();
    graph["verifiers"] = {verifier};
    Result<Pt2Archive> archive = Pt2Archive::open(
        fileOf(archiveOf(graph.dump(), weightsOf().dump()).str()));
    ASSERT_TRUE(archive);
    EXPECT_EQ(archive->train().decomposed, verifier == std::string("ATEN"));
  }
}

TEST(Pt2Archive, readsTheInnermostLineOfTheModel) {
  struct {
    const char *trace, *file;
    unsigned line;
  } cases[] = {
      {"File \"/v/site-packages/own/m.py\", line 5, in f\n  y\n  File "
       "\"/v/site-packages/torch/nn/linear.py\", line 9, in g",
       "own/m.py", 5},
      {"File \"/opt/me/m.py\", line 5, in f", "/opt/me/m.py", 5},
      {"File \"/v/site-packages/torch/nn/linear.py\", line 9, in g",
       "torch/nn/linear.py", 9},
      {"File \"unfinished", "", 0},
  };
  for (const auto &test : cases) {
    json graph = graphOf();
    graph["graph_module"]["graph"]["nodes"][0]["metadata"]["stack_trace"] =
        test.trace;
    Result<Pt2Archive> archive = Pt2Archive::open(
        fileOf(archiveOf(graph.dump(), weightsOf().dump()).str()));
    ASSERT_TRUE(archive);
    EXPECT_EQ(archive->train().nodes[0].file, test.file) << test.trace;
    EXPECT_EQ(archive->train().nodes[0].line, test.line);
  }
}

TEST(Pt2Archive, leavesOutWhatBecomesOfInputs) {
  json graph = graphOf();
  graph["graph_module"]["signature"]["output_specs"].push_back(
      {{"user_input_mutation",
        {{"arg", {{"name", "y"}}}, {"user_input_name", "x"}}}});
  Result<Pt2Archive> archive = Pt2Archive::open(
      fileOf(archiveOf(graph.dump(), weightsOf().dump()).str()));
  ASSERT_TRUE(archive) << archive.error().str();
  EXPECT_EQ(archive->train().outputs.size(), 1u);
}

TEST(Pt2Archive, readsStridedWeights) {
  Result<Pt2Archive> archive = Pt2Archive::open(
      fileOf(archiveOf(graphOf().dump(), weightsOf().dump()).str()));
  ASSERT_TRUE(archive);
  Result<std::vector<std::byte>> bytes =
      archive->elements(archive->weights().find("h.w")->second);
  ASSERT_TRUE(bytes);
  float values[6];
  ASSERT_EQ(bytes->size(), sizeof(values));
  std::memcpy(values, bytes->data(), sizeof(values));
  // Element (i, j) lies at 1 + i + 2 j.
  float expected[] = {1, 3, 5, 2, 4, 6};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(values[i], expected[i]);
}

TEST(Pt2Archive, refusesWeightsOutsideTheirStorage) {
  EXPECT_TRUE(contains(
      messageOf(archiveOf(graphOf().dump(), weightsOf().dump(), 6)),
      "expects 'h.w' of shape [2, 3] to lie in its storage, got 24 bytes"));
}

TEST(Pt2Archive, emptyStorageIsNoValue) {
  Result<Pt2Archive> archive = Pt2Archive::open(
      fileOf(archiveOf(graphOf().dump(), weightsOf().dump(), 0).str()));
  ASSERT_TRUE(archive);
  EXPECT_FALSE(archive->weights().find("h.w")->second.hasData);
}

TEST(Pt2Archive, refusesPickledWeights) {
  json weights = weightsOf();
  weights["config"]["h.w"]["use_pickle"] = true;
  EXPECT_TRUE(contains(messageOf(archiveOf(graphOf().dump(), weights.dump())),
                       "expects 'h.w' as raw bytes, got a pickle"));
}

TEST(Pt2Archive, refusesOtherSchemas) {
  json graph = graphOf();
  graph["schema_version"]["major"] = 9;
  EXPECT_TRUE(contains(messageOf(archiveOf(graph.dump(), weightsOf().dump())),
                       "expects schema version 8, got 9"));
}

TEST(Pt2Archive, refusesTextThatIsNoJson) {
  EXPECT_TRUE(contains(messageOf(archiveOf("{\"a\": ", "{}")),
                       "expects JSON, got text that is not"));
}

TEST(Pt2Archive, refusesDeepJson) {
  std::string deep(1000000, '[');
  EXPECT_TRUE(contains(messageOf(archiveOf(deep, "{}")),
                       "expects JSON of at most 64 levels, got more"));
}

TEST(Pt2Archive, refusesNamesThatAreNotThere) {
  json graph = graphOf();
  graph["graph_module"]["graph"]["nodes"][0]["outputs"][0]["as_tensor"]
       ["name"] = "z";
  EXPECT_TRUE(contains(messageOf(archiveOf(graph.dump(), weightsOf().dump())),
                       "expects 'z' to be a tensor of the graph"));
}

TEST(Pt2Archive, namesTheRepairOfOldArchives) {
  ZipBuilder zip;
  zip.add("m/serialized_exported_program.json", "{}");
  std::string message = messageOf(zip);
  EXPECT_TRUE(contains(message, "of torch 2.8 or later, got one of an older"));
  EXPECT_TRUE(contains(message, "note: load it with torch.export.load"));
}

/// Replaces each value of the JSON in turn by a value of another kind.
void mutate(json &value, const std::function<void()> &tryIt) {
  json original = value;
  for (const json &other : {json(), json(-1), json("x"), json::array(),
                            json::object(), json(1e300)}) {
    value = other;
    tryIt();
  }
  value = original;
  if (value.is_structured())
    for (json &item : value)
      mutate(item, tryIt);
}

TEST(Pt2Archive, survivesValuesOfAnyKind) {
  json graph = graphOf(), weights = weightsOf();
  int refused = 0, tried = 0;
  auto tryIt = [&] {
    ++tried;
    refused += messageOf(archiveOf(graph.dump(), weights.dump())) != "";
  };
  mutate(graph, tryIt);
  mutate(weights, tryIt);
  graph = regionGraphOf();
  mutate(graph, tryIt);
  EXPECT_GT(tried, 300);
  EXPECT_GT(refused, tried / 2);
}

} // namespace
