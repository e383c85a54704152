//===- ImporterTest.cpp - Tests of refusals and aliases -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Importer.h"
#include "ZipBuilder.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "smp/Import/Coverage.h"
#include <nlohmann/json.hpp>

using namespace smp;
using namespace smp::test;
using nlohmann::json;

namespace {

json size(int64_t value) { return {{"as_int", value}}; }
json batch() {
  return {{"as_expr", {{"expr_str", "Symbol('s0', integer=True)"}}}};
}
json tensor(const std::string &name) {
  return {{"as_tensor", {{"name", name}}}};
}

/// A graph of nodes on an input x of shape [s0, 4].
class GraphBuilder {
public:
  GraphBuilder() {
    declare("x", json::array({batch(), size(4)}));
    inputs.push_back({{"user_input", {{"arg", tensor("x")}}}});
  }

  void declare(const std::string &name, json sizes, int dtype = 7) {
    values[name] = {{"dtype", dtype}, {"sizes", std::move(sizes)}};
  }

  /// A node that gives `name`, of the shape of x.
  void node(const std::string &target, const std::string &name, json arguments,
            const std::string &scope = "h.0") {
    if (!values.contains(name))
      declare(name, json::array({batch(), size(4)}));
    json listed = json::array();
    for (auto &[key, value] : arguments.items())
      listed.push_back({{"name", key}, {"arg", value}});
    nodes.push_back(
        {{"target", "torch.ops.aten." + target},
         {"inputs", listed},
         {"outputs", json::array({tensor(name)})},
         {"metadata",
          {{"nn_module_stack", "r,,M;k," + scope + ",N"},
           {"stack_trace", "File \"m/model.py\", line 12, in forward"}}}});
  }

  std::string archive(const std::string &output) const {
    json specs = json::array();
    specs.push_back({{"user_output", {{"arg", tensor(output)}}}});
    json graph = {
        {"schema_version", {{"major", 8}, {"minor", 20}}},
        {"graph_module",
         {{"graph",
           {{"nodes", nodes},
            {"tensor_values", values},
            {"sym_int_values", json::object()}}},
          {"signature", {{"input_specs", inputs}, {"output_specs", specs}}}}}};
    ZipBuilder zip;
    zip.add("m/models/model.json", graph.dump());
    return fileOf(zip.str());
  }

private:
  json nodes = json::array(), inputs = json::array();
  json values = json::object();
};

/// The errors of importing; "" when it succeeds.
std::string errorsOf(const std::string &path) {
  Result<pt2::Pt2Archive> archive = pt2::Pt2Archive::open(path);
  if (!archive)
    return archive.error().str();
  mlir::MLIRContext context;
  std::string text;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    text += diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      text += "\nnote: " + note.str();
    return mlir::success();
  });
  bool imported = bool(importArchive(&context, *archive));
  EXPECT_EQ(imported, text.empty());
  return text;
}

TEST(Importer, importsASmallGraph) {
  GraphBuilder graph;
  graph.node("relu.default", "y", {{"self", tensor("x")}});
  EXPECT_EQ(errorsOf(graph.archive("y")), "");
}

TEST(Importer, listsAllUnsupportedOperatorsAtOnce) {
  GraphBuilder graph;
  graph.node("erfinv.default", "a", {{"self", tensor("x")}}, "h.0.mlp");
  graph.node("relu.default", "b", {{"self", tensor("a")}});
  graph.node("erfinv.default", "c", {{"self", tensor("b")}}, "h.1.mlp");
  graph.node("fft_fft.default", "d", {{"self", tensor("c")}}, "h.1");
  std::string errors = errorsOf(graph.archive("d"));
  EXPECT_TRUE(contains(errors,
                       "'aten.erfinv.default', 2 times, first in 'h.0.mlp' at "
                       "m/model.py:12"))
      << errors;
  EXPECT_TRUE(contains(
      errors, "'aten.fft_fft.default', 1 time, in 'h.1' at m/model.py:12"))
      << errors;
  EXPECT_TRUE(contains(errors, "note: smp-import --list-operators"));
}

TEST(Importer, aLossBesideTheModelHasNoModule) {
  GraphBuilder graph;
  graph.node("erfinv.default", "a", {{"self", tensor("x")}}, "");
  std::string errors = errorsOf(graph.archive("a"));
  EXPECT_TRUE(contains(errors, "'aten.erfinv.default', 1 time, outside of its "
                               "modules"))
      << errors;
}

TEST(Importer, countsWhatIsCovered) {
  GraphBuilder graph;
  graph.node("erfinv.default", "a", {{"self", tensor("x")}}, "h.0.mlp");
  graph.node("relu.default", "b", {{"self", tensor("a")}});
  graph.node("erfinv.default", "c", {{"self", tensor("b")}}, "h.1.mlp");
  Result<pt2::Pt2Archive> archive = pt2::Pt2Archive::open(graph.archive("c"));
  ASSERT_TRUE(archive);
  std::string text;
  llvm::raw_string_ostream stream(text);
  printCoverage(coverageOf(*archive), stream);
  EXPECT_EQ(text, R"(operator              nodes  missing
aten.erfinv.default       2        2  no rule, first in 'h.0.mlp' at m/model.py:12
aten.relu.default         1        0
1 of 2 operators and 1 of 3 nodes are covered
)");
}

TEST(Importer, saysWhyANodeIsRefused) {
  struct {
    const char *target;
    json arguments;
    const char *reason;
  } cases[] = {
      {"div.Tensor_mode",
       {{"self", tensor("x")},
        {"other", {{"as_float", 2.0}}},
        {"rounding_mode", {{"as_string", "floor"}}}},
       "with rounding_mode 'floor'"},
      {"layer_norm.default",
       {{"input", tensor("x")},
        {"normalized_shape", {{"as_ints", json::array({2, 4})}}}},
       "over more than the last dim"},
      {"softmax.int",
       {{"self", tensor("x")}, {"dim", {{"as_int", 5}}}},
       "with dim 5 of a tensor of rank 2"},
      {"slice.Tensor",
       {{"self", tensor("x")},
        {"dim", {{"as_int", 0}}},
        {"start", {{"as_int", 1}}}},
       "that cuts dim 0, whose size varies with the batch"},
      {"slice_scatter.default",
       {{"self", tensor("x")},
        {"src", tensor("x")},
        {"dim", {{"as_int", 0}}},
        {"start", {{"as_int", 1}}}},
       "into dim 0, whose size varies with the batch"},
      {"slice_scatter.default",
       {{"self", tensor("x")}, {"src", tensor("x")}},
       ""},
      {"slice_scatter.default",
       {{"self", tensor("x")},
        {"src", tensor("x")},
        {"dim", {{"as_int", 1}}},
        {"step", {{"as_int", 0}}}},
       "with step 0"},
      {"select_scatter.default",
       {{"self", tensor("x")},
        {"src", tensor("x")},
        {"dim", {{"as_int", 1}}},
        {"index", {{"as_int", 4}}}},
       "of place 4 of 4"},
      {"select_scatter.default",
       {{"self", tensor("x")},
        {"src", tensor("x")},
        {"dim", {{"as_int", 0}}},
        {"index", {{"as_int", 0}}}},
       "into dim 0, whose size varies with the batch"},
      {"copy.default", {{"self", tensor("x")}, {"src", tensor("x")}}, ""},
      {"view.default", {{"self", tensor("x")}}, ""},
      {"add.Tensor", {{"other", tensor("x")}}, "without 'self'"},
      {"pow.Tensor_Scalar",
       {{"self", tensor("x")}, {"exponent", {{"as_string", "two"}}}},
       "with 'exponent' that is not a number known when importing"},
  };
  for (const auto &test : cases) {
    GraphBuilder graph;
    graph.node(test.target, "y", test.arguments);
    std::string errors = errorsOf(graph.archive("y"));
    if (*test.reason)
      EXPECT_TRUE(contains(errors, test.reason)) << test.target << errors;
    else
      EXPECT_EQ(errors, "") << test.target;
  }
}

TEST(Importer, comparesResultsWithTheGraph) {
  GraphBuilder graph;
  graph.declare("y", json::array({batch(), size(5)}));
  graph.node("relu.default", "y", {{"self", tensor("x")}});
  EXPECT_TRUE(
      contains(errorsOf(graph.archive("y")),
               "whose result of shape [s0, 5] was imported as [s0, 4]"));
}

TEST(Importer, refusesTypesThatItHasNot) {
  GraphBuilder graph;
  graph.declare("y", json::array({batch(), size(4)}), /*dtype=*/9);
  graph.node("exp.default", "y", {{"self", tensor("x")}});
  EXPECT_TRUE(contains(errorsOf(graph.archive("y")),
                       "with a result of a type that smp has not"));
}

TEST(Importer, importsWhatChangesInPlace) {
  GraphBuilder graph;
  graph.node("mul.Tensor", "a",
             {{"self", tensor("x")}, {"other", tensor("x")}});
  graph.node("relu_.default", "b", {{"self", tensor("a")}});
  graph.node("add_.Tensor", "c",
             {{"self", tensor("a")}, {"other", tensor("x")}});
  EXPECT_EQ(errorsOf(graph.archive("a")), "");
}

TEST(Importer, namesTheMutationThatIsRefused) {
  GraphBuilder graph;
  graph.declare("v", json::array({size(2), batch(), size(4)}));
  graph.node("expand.default", "v", {{"self", tensor("x")}});
  graph.declare("a", json::array({size(2), batch(), size(4)}));
  graph.node("zero_.default", "a", {{"self", tensor("v")}}, "h.2");
  std::string errors = errorsOf(graph.archive("x"));
  EXPECT_TRUE(contains(errors, "'aten.zero_.default' that changes a tensor "
                               "through 'aten.expand.default', 1 time, in "
                               "'h.2' at m/model.py:12"))
      << errors;
}

TEST(Importer, refusesValuesThatComeLater) {
  GraphBuilder graph;
  graph.declare("z", json::array({batch(), size(4)}));
  graph.node("mul.Tensor", "y",
             {{"self", tensor("x")}, {"other", tensor("z")}});
  graph.node("relu.default", "z", {{"self", tensor("y")}});
  EXPECT_TRUE(contains(errorsOf(graph.archive("z")),
                       "with 'other' that no node before gives"));
}

TEST(Importer, refusesSizesThatNoInputHas) {
  GraphBuilder graph;
  json other = {{"as_expr", {{"expr_str", "u0"}}}};
  graph.declare("y", json::array({other}));
  graph.node("full.default", "y", {{"fill_value", {{"as_float", 1.0}}}});
  EXPECT_TRUE(contains(errorsOf(graph.archive("y")),
                       "of size 'u0', which is no size of an input"));
}

} // namespace
