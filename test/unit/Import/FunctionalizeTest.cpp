//===- FunctionalizeTest.cpp - Tests of mutation as new values ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functionalize.h"
#include "TensorViews.h"
#include <gtest/gtest.h>

using namespace smp;
using namespace smp::pt2;

namespace {

using Sizes = std::vector<int64_t>;

/// Row-major.
TensorMeta metaOf(const Sizes &shape, DataType type = DataType::F32) {
  TensorMeta meta{type, {shape.begin(), shape.end()}, {}};
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    meta.strides.insert(meta.strides.begin(), stride);
  return meta;
}

/// Graphs written node by node: `self` first, then numbers by name.
struct Program {
  ExportedGraph graph;

  void input(const std::string &name, const Sizes &shape,
             GraphInput::Kind kind = GraphInput::Kind::User,
             DataType type = DataType::F32) {
    graph.inputs.push_back({kind, name, "model." + name});
    graph.tensors[name] = metaOf(shape, type);
  }
  Node &node(const std::string &target, const std::string &output,
             const std::string &self, TensorMeta meta) {
    Node &result = graph.nodes.emplace_back();
    result.target = "aten." + target;
    result.outputs = {output};
    result.arguments = {tensorArgument("self", self)};
    graph.tensors[output] = std::move(meta);
    return result;
  }
  void returns(const std::string &name) { graph.outputs.push_back({name, ""}); }
};

/// One line a node: "z'2 = slice_scatter(z, v'1, dim 1, start 2)".
std::string textOf(const Node &node) {
  std::string text;
  for (const std::string &output : node.outputs)
    text += (text.empty() ? "" : ", ") + output;
  std::string name = node.target.substr(node.target.find('.') + 1);
  text += " = " + name.substr(0, name.find('.')) + "(";
  bool first = true;
  for (const Argument &argument : node.arguments) {
    text += first ? "" : ", ";
    first = false;
    for (const std::string &tensor : argument.tensors)
      text += tensor;
    for (const SizeExpr &size : argument.sizes)
      text += argument.name + " " + size.str();
  }
  return text + ")";
}

std::string refusalsOf(const ExportedGraph &graph) {
  std::string text;
  for (const Node &node : graph.nodes)
    if (!node.refusal.empty())
      text += node.target + " " + node.refusal + "\n";
  return text;
}

TEST(Functionalize, writesThroughASlice) {
  Program program;
  program.input("z", {2, 4});
  program.input("x", {2, 3});
  program.node("slice.Tensor", "v", "z", metaOf({2, 3}))
      .arguments.insert(program.graph.nodes.back().arguments.end(),
                        {sizeArgument("dim", 1), sizeArgument("start", 1)});
  program.node("copy_.default", "w", "v", metaOf({2, 3}))
      .arguments.push_back(tensorArgument("src", "x"));
  program.node("neg.default", "y", "z", metaOf({2, 4}));
  program.returns("y");
  program.returns("w");
  functionalize(program.graph);
  const ExportedGraph &graph = program.graph;
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(textOf(graph.nodes[0]), "v = slice(z, dim 1, start 1)");
  EXPECT_EQ(textOf(graph.nodes[1]), "v'1 = copy(v, x)");
  EXPECT_EQ(textOf(graph.nodes[2]),
            "z'2 = slice_scatter(z, v'1, dim 1, start 1)");
  EXPECT_EQ(textOf(graph.nodes[3]), "y = neg(z'2)");
  EXPECT_EQ(graph.outputs[1].value, "v'1");
}

TEST(Functionalize, aChangedBufferBecomesAnOutput) {
  Program program;
  program.input("b", {}, GraphInput::Kind::Buffer, DataType::I64);
  program.input("x", {2});
  program.node("add_.Scalar", "a", "b", metaOf({}, DataType::I64))
      .arguments.push_back(sizeArgument("other", 1));
  program.returns("x");
  functionalize(program.graph);
  ASSERT_EQ(program.graph.outputs.size(), 2u);
  EXPECT_EQ(program.graph.outputs[1].mutates, "model.b");
  EXPECT_EQ(program.graph.outputs[1].value, "b'1");
}

TEST(Functionalize, batchNormReturnsItsRunningStatistics) {
  Program program;
  program.input("x", {2, 3, 4});
  program.input("m", {3}, GraphInput::Kind::Buffer);
  program.input("v", {3}, GraphInput::Kind::Buffer);
  Node &node = program.node("batch_norm.default", "y", "x", metaOf({2, 3, 4}));
  node.arguments[0].name = "input";
  Argument training;
  training.kind = Argument::Kind::Bool;
  training.name = "training";
  training.flag = true;
  node.arguments.insert(node.arguments.end(),
                        {tensorArgument("running_mean", "m"),
                         tensorArgument("running_var", "v"), training});
  program.returns("y");
  ExportedGraph evaluated = program.graph;
  functionalize(program.graph);
  const ExportedGraph &graph = program.graph;
  EXPECT_EQ(textOf(graph.nodes[0]),
            "y, m'1, v'2, m'3, v'4 = _native_batch_norm_legit_functional(x, m, "
            "v, )");
  ASSERT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.outputs[1].value, "m'3");
  EXPECT_EQ(graph.outputs[2].mutates, "model.v");
  // In evaluation it changes nothing.
  evaluated.nodes[0].arguments.back().flag = false;
  functionalize(evaluated);
  EXPECT_EQ(evaluated.nodes[0].target, "aten.batch_norm.default");
  EXPECT_EQ(evaluated.outputs.size(), 1u);
}

TEST(Functionalize, computesInTheWiderTypeAndConvertsBack) {
  Program program;
  program.input("h", {2}, GraphInput::Kind::User, DataType::F16);
  program.input("f", {2});
  program.node("add_.Tensor", "a", "h", metaOf({2}, DataType::F16))
      .arguments.push_back(tensorArgument("other", "f"));
  program.node("copy_.default", "c", "h", metaOf({2}, DataType::F16))
      .arguments.push_back(tensorArgument("src", "f"));
  program.returns("h");
  functionalize(program.graph);
  const ExportedGraph &graph = program.graph;
  EXPECT_EQ(textOf(graph.nodes[0]), "h'1 = add(h, f)");
  EXPECT_EQ(graph.tensors.at("h'1").type, DataType::F32);
  EXPECT_EQ(textOf(graph.nodes[1]), "h'2 = _to_copy(h'1)");
  EXPECT_EQ(graph.tensors.at("h'2").type, DataType::F16);
  // A copy converts by itself.
  EXPECT_EQ(textOf(graph.nodes[2]), "h'3 = copy(h'2, f)");
  EXPECT_EQ(graph.tensors.at("h'3").type, DataType::F16);
}

TEST(Functionalize, namesTheTwins) {
  struct {
    const char *inPlace, *twin;
  } cases[] = {{"__iand__.Tensor", "aten.__and__.Tensor"},
               {"pow_.Scalar", "aten.pow.Tensor_Scalar"},
               {"masked_fill_.Scalar", "aten.masked_fill.Scalar"},
               {"dropout_.default", "aten.dropout.default"},
               {"zero_.default", "aten.zero.default"}};
  for (const auto &test : cases) {
    Program program;
    program.input("x", {2});
    program.node(test.inPlace, "y", "x", metaOf({2}));
    functionalize(program.graph);
    EXPECT_EQ(program.graph.nodes[0].target, test.twin);
    EXPECT_EQ(program.graph.nodes[0].arguments[0].name,
              std::string(test.inPlace) == "dropout_.default" ? "input"
                                                              : "self");
  }
  // What ends in two underscores changes nothing.
  Program program;
  program.input("x", {2});
  program.node("__and__.Tensor", "y", "x", metaOf({2}));
  functionalize(program.graph);
  EXPECT_EQ(program.graph.nodes[0].outputs[0], "y");
}

TEST(Functionalize, makesAChangeInAGradientFreeRegionGradientFree) {
  Program program;
  program.input("w", {2}, GraphInput::Kind::Parameter);
  // Its operand gives it a shape and no gradient.
  program.node("zeros_like.default", "z", "w", metaOf({2}));
  program.node("copy_.default", "a", "z", metaOf({2}))
      .arguments.push_back(tensorArgument("src", "w"));
  program.graph.nodes.back().gradientFree = true;
  program.returns("z");
  functionalize(program.graph);
  EXPECT_EQ(textOf(program.graph.nodes[2]), "z'2 = detach(z'1)");
  EXPECT_EQ(program.graph.outputs[0].value, "z'2");
  EXPECT_EQ(refusalsOf(program.graph), "");
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Functionalize, refusesToChangeParameters) {
  Program program;
  program.input("w", {2}, GraphInput::Kind::Parameter);
  program.node("zero_.default", "a", "w", metaOf({2}));
  functionalize(program.graph);
  EXPECT_EQ(refusalsOf(program.graph),
            "aten.zero_.default that changes parameter 'model.w'\n");
}

TEST(Functionalize, refusesChangesBehindTheBackOfGradients) {
  for (bool region : {false, true}) {
    Program program;
    program.input("w", {2}, GraphInput::Kind::Parameter);
    program.node("neg.default", "x", "w", metaOf({2}));
    if (!region)
      program.node("detach.default", "d", "x", metaOf({2}));
    program.node("mul_.Scalar", "a", region ? "x" : "d", metaOf({2}))
        .arguments.push_back(sizeArgument("other", 2));
    program.graph.nodes.back().gradientFree = region;
    functionalize(program.graph);
    EXPECT_EQ(refusalsOf(program.graph),
              "aten.mul_.Scalar that changes a tensor with a gradient where "
              "none is recorded\n");
  }
}

TEST(Functionalize, refusesMemoryThatMayBeShared) {
  for (bool read : {false, true}) {
    Program program;
    program.input("x", {2, 3});
    TensorMeta transposed = metaOf({3, 2});
    transposed.strides = {1, 3};
    program.node("t.default", "t", "x", transposed);
    program.node("reshape.default", "r", "t", metaOf({6}));
    program.node("mul_.Scalar", "a", "x", metaOf({2, 3}))
        .arguments.push_back(sizeArgument("other", 2));
    if (read)
      program.node("neg.default", "y", "r", metaOf({6}));
    functionalize(program.graph);
    EXPECT_EQ(refusalsOf(program.graph),
              read ? "aten.neg.default of a tensor whose memory may be what "
                     "'aten.mul_.Scalar' has changed\n"
                   : "");
  }
}

TEST(Functionalize, refusesWhatCannotBeWrittenBack) {
  struct {
    const char *view;
    Sizes shape;
  } cases[] = {{"expand.default", {3, 2}}, {"diagonal.default", {1}}};
  for (const auto &test : cases) {
    Program program;
    program.input("x", {1, 2});
    program.node(test.view, "v", "x", metaOf(test.shape));
    program.node("zero_.default", "a", "v", metaOf(test.shape));
    functionalize(program.graph);
    EXPECT_EQ(refusalsOf(program.graph),
              "aten.zero_.default that changes a tensor through 'aten." +
                  std::string(test.view) + "'\n");
  }
}

TEST(Functionalize, refusesChangesOfShape) {
  Program program;
  program.input("x", {2, 2});
  program.node("t_.default", "a", "x", metaOf({2, 2}));
  functionalize(program.graph);
  EXPECT_EQ(refusalsOf(program.graph), "aten.t_.default that changes the shape "
                                       "of its operand in place\n");
}

} // namespace
