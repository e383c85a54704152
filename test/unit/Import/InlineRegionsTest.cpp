//===- InlineRegionsTest.cpp - Tests of regions that nodes run ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineRegions.h"
#include "TensorViews.h"
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::pt2;

namespace {

using Kind = Argument::Kind;

TensorMeta vectorOf(DataType type) { return {type, {4}, {1}}; }

Argument flag(bool value) {
  Argument argument;
  argument.kind = Kind::Bool;
  argument.flag = value;
  return argument;
}
Argument text(std::string value) {
  Argument argument;
  argument.kind = Kind::Text;
  argument.text = std::move(value);
  return argument;
}
Argument typeOf(DataType value) {
  Argument argument;
  argument.kind = Kind::Type;
  argument.type = value;
  return argument;
}

/// r = target(x) inside a region whose only input and output are x and r.
std::shared_ptr<Region> regionOf(const std::string &target, DataType operand,
                                 DataType result) {
  auto region = std::make_shared<Region>();
  region->inputs = {"x"};
  region->outputs = {"r"};
  region->tensors = {{"x", vectorOf(operand)}, {"r", vectorOf(result)}};
  Node &node = region->nodes.emplace_back();
  node.target = target;
  node.arguments = {tensorArgument("self", "x")};
  node.outputs = {"r"};
  return region;
}

/// y = call(..., region, a).
ExportedGraph graphOf(const std::string &target, std::vector<Argument> before,
                      std::shared_ptr<Region> region) {
  ExportedGraph graph;
  graph.tensors = {{"a", region->tensors.at("x")},
                   {"y", region->tensors.at("r")}};
  Argument argument;
  argument.kind = Kind::Graph;
  argument.region = std::move(region);
  Node &node = graph.nodes.emplace_back();
  node.target = target;
  node.arguments = std::move(before);
  node.arguments.push_back(argument);
  node.arguments.push_back(tensorArgument("", "a"));
  node.outputs = {"y"};
  return graph;
}

std::string textOf(const ExportedGraph &graph) {
  std::string text;
  for (const Node &node : graph.nodes)
    text += node.outputs.front() + " = " + node.target + "(" +
            node.arguments.front().tensors.front() + ")" +
            (node.gradientFree ? " free" : "") + "\n";
  return text;
}

constexpr const char *kGrad = "higher_order.wrap_with_set_grad_enabled";
constexpr const char *kAutocast = "higher_order.wrap_with_autocast";

TEST(InlineRegions, whatLeavesAGradientFreeRegionIsDetached) {
  ExportedGraph graph =
      graphOf(kGrad, {flag(false)},
              regionOf("aten.neg.default", DataType::F32, DataType::F32));
  inlineRegions(graph);
  EXPECT_EQ(textOf(graph), "region0/r = aten.neg.default(a) free\n"
                           "y = aten.detach.default(region0/r)\n");
}

TEST(InlineRegions, integersAndRegionsWithGradientsAreNotDetached) {
  ExportedGraph graph =
      graphOf(kGrad, {flag(false)},
              regionOf("aten.neg.default", DataType::I64, DataType::I64));
  inlineRegions(graph);
  EXPECT_EQ(textOf(graph), "region0/r = aten.neg.default(a) free\n"
                           "y = aten.alias.default(region0/r)\n");
  graph = graphOf(kGrad, {flag(true)},
                  regionOf("aten.neg.default", DataType::F32, DataType::F32));
  inlineRegions(graph);
  EXPECT_EQ(textOf(graph), "region0/r = aten.neg.default(a)\n"
                           "y = aten.alias.default(region0/r)\n");
}

TEST(InlineRegions, regionsInRegions) {
  auto inner = regionOf("aten.neg.default", DataType::F32, DataType::F32);
  ExportedGraph call = graphOf(kGrad, {flag(true)}, inner);
  auto outer = std::make_shared<Region>();
  outer->inputs = {"a"};
  outer->outputs = {"y"};
  outer->nodes = call.nodes;
  outer->tensors = call.tensors;
  outer->tensors["x"] = outer->tensors["r"] = vectorOf(DataType::F32);
  ExportedGraph graph = graphOf(kGrad, {flag(false)}, outer);
  inlineRegions(graph);
  EXPECT_EQ(textOf(graph), "region1/r = aten.neg.default(a)\n"
                           "region0/y = aten.alias.default(region1/r)\n"
                           "y = aten.detach.default(region0/y)\n");
}

/// The nodes of an autocast region with one node, given its types.
std::string autocast(const std::string &target, DataType operand,
                     DataType result, bool enabled = true) {
  ExportedGraph graph =
      graphOf(kAutocast,
              {text("cpu"), typeOf(DataType::BF16), flag(enabled), flag(true)},
              regionOf(target, operand, result));
  inlineRegions(graph);
  if (graph.nodes.size() == 3)
    EXPECT_EQ(graph.tensors.at("a/cast0").type, result);
  return textOf(graph);
}

TEST(InlineRegions, autocastCastsAsItsResultsSay) {
  const std::string end = "y = aten.alias.default(region0/r)\n";
  auto cast = [&](const std::string &target) {
    return "a/cast0 = aten._to_copy.default(a)\nregion0/r = " + target +
           "(a/cast0)\n" + end;
  };
  auto plain = [&](const std::string &target) {
    return "region0/r = " + target + "(a)\n" + end;
  };
  using enum DataType;
  EXPECT_EQ(autocast("aten.linear.default", F32, BF16),
            cast("aten.linear.default"));
  // On CUDA; CPUs leave it.
  EXPECT_EQ(autocast("aten.exp.default", BF16, F32), cast("aten.exp.default"));
  EXPECT_EQ(autocast("aten.exp.default", BF16, BF16),
            plain("aten.exp.default"));
  EXPECT_EQ(autocast("aten.neg.default", F32, F32), plain("aten.neg.default"));
  EXPECT_EQ(autocast("aten.linear.default", F32, F32, /*enabled=*/false),
            plain("aten.linear.default"));
  // Double precision is never cast; its type stays as PyTorch says it is.
  EXPECT_EQ(autocast("aten.linear.default", F64, F64),
            plain("aten.linear.default"));
}

TEST(InlineRegions, refusesOtherWaysToRunAGraph) {
  ExportedGraph graph =
      graphOf("higher_order.cond", {},
              regionOf("aten.neg.default", DataType::F32, DataType::F32));
  inlineRegions(graph);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].refusal, "that runs a graph");
}

} // namespace
