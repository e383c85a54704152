//===- SharedMemoryTest.cpp - Random programs on shared memory ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EagerMachine.h"
#include "Functionalize.h"
#include "TensorViews.h"
#include <algorithm>
#include <random>

using namespace smp;
using namespace smp::pt2;
using namespace smp::test;

namespace {

std::vector<SizeExpr> sizesOf(const Sizes &shape) {
  return {shape.begin(), shape.end()};
}

TensorMeta metaOf(const EagerTensor &tensor) {
  return {DataType::F32, sizesOf(tensor.shape), sizesOf(tensor.strides)};
}

bool isRefused(const ExportedGraph &graph) {
  return std::ranges::any_of(
      graph.nodes, [](const Node &node) { return !node.refusal.empty(); });
}

class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {
    for (const char *name : {"x", "y"}) {
      graph.inputs.push_back({GraphInput::Kind::User, name, ""});
      machine.tensors[name] = numbered({2, 3, 4});
      graph.tensors[name] = metaOf(machine.tensors[name]);
      names.emplace_back(name);
    }
  }

  void grow(int nodes) {
    for (int i = 0; i < nodes; ++i)
      below(2) ? addView() : addMutation();
  }

  ExportedGraph graph;
  EagerMachine machine;
  std::vector<std::string> names;

  EagerTensor numbered(const Sizes &shape) {
    EagerTensor tensor = EagerTensor::filled(shape, 0);
    tensor.forEach([&](double &e) { e = ++next; });
    return tensor;
  }

private:
  int64_t below(int64_t limit) { return random() % limit; }

  /// Runs the node, and notes what it gives.
  void finish(Node node) {
    machine.run(node);
    for (const std::string &output : node.outputs) {
      graph.tensors[output] = metaOf(machine.tensors[output]);
      names.push_back(output);
    }
    graph.nodes.push_back(std::move(node));
  }

  Node start(const std::string &target, const std::string &self,
             size_t results = 1) {
    Node node;
    node.target = "aten." + target;
    node.arguments = {tensorArgument("self", self)};
    for (size_t i = 0; i < results; ++i)
      node.outputs.push_back("t" + std::to_string(++made));
    return node;
  }

  void addView() {
    const std::string self = names[below(names.size())];
    const EagerTensor tensor = machine.tensors[self];
    int64_t rank = tensor.shape.size();
    if (rank == 0)
      return;
    int64_t dim = below(rank), size = tensor.shape[dim];
    auto number = [](Node &node, const char *name, int64_t value) {
      node.arguments.push_back(sizeArgument(name, value));
    };
    Node node;
    switch (below(8)) {
    case 0: {
      node = start("transpose.int", self);
      number(node, "dim0", dim);
      number(node, "dim1", below(rank));
      break;
    }
    case 1: {
      node = start("slice.Tensor", self);
      int64_t from = below(size);
      number(node, "dim", dim);
      number(node, "start", from);
      number(node, "end", from + 1 + below(size - from));
      number(node, "step", 1 + below(2));
      break;
    }
    case 2:
      node = start("select.int", self);
      number(node, "dim", dim);
      number(node, "index", below(size));
      break;
    case 3: {
      node = start("narrow.default", self);
      int64_t from = below(size);
      number(node, "dim", dim);
      number(node, "start", from);
      number(node, "length", 1 + below(size - from));
      break;
    }
    case 4: {
      std::vector<SizeExpr> dims;
      for (int64_t i = 0; i < rank; ++i)
        dims.emplace_back((i + dim) % rank);
      node = start("permute.default", self);
      node.arguments.push_back(sizesArgument("dims", dims));
      break;
    }
    case 5:
      node = start("unbind.int", self, size);
      number(node, "dim", dim);
      break;
    case 6:
      node = start("split.Tensor", self, (size + 1) / 2);
      number(node, "split_size", 2);
      number(node, "dim", dim);
      break;
    default: {
      node = start(tensor.contiguous() ? "view.default"
                   : below(2)          ? "reshape.default"
                                       : "contiguous.default",
                   self);
      std::vector<SizeExpr> sizes = sizesOf(tensor.shape);
      std::ranges::reverse(sizes);
      if (node.target != "aten.contiguous.default")
        node.arguments.push_back(sizesArgument("size", sizes));
    }
    }
    finish(node);
  }

  void addMutation() {
    const std::string self = names[below(names.size())];
    Sizes shape = machine.tensors[self].shape;
    std::vector<std::string> alike;
    for (const std::string &name : names)
      if (machine.tensors[name].shape == shape)
        alike.push_back(name);
    Node node;
    switch (below(5)) {
    case 0:
      node = start("mul_.Scalar", self);
      node.arguments.push_back(sizeArgument("other", 1 + below(3)));
      break;
    case 1:
      node = start("fill_.Scalar", self);
      node.arguments.push_back(sizeArgument("value", ++next));
      break;
    case 2:
      node = start("copy_.default", self);
      node.arguments.push_back(
          tensorArgument("src", alike[below(alike.size())]));
      break;
    case 3:
      node = start("clone.default", self);
      break;
    default:
      node = start("add_.Tensor", self);
      node.arguments.push_back(
          tensorArgument("other", alike[below(alike.size())]));
    }
    finish(node);
  }

  std::mt19937 random;
  int64_t next = 0, made = 0;
};

/// Every tensor of a program has, at its end, the elements that it has in
/// memory that is really shared.
TEST(SharedMemory, keepsWhatRandomProgramsMean) {
  int compared = 0, refused = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomProgram random(seed);
    std::map<std::string, EagerTensor> inputs;
    for (const char *name : {"x", "y"})
      inputs[name] = random.machine.tensors[name].clone();
    random.grow(12);
    for (const std::string &name : random.names)
      random.graph.outputs.push_back({name, ""});
    ExportedGraph graph = random.graph;
    functionalize(graph);
    if (isRefused(graph)) {
      ++refused;
      continue;
    }
    EagerMachine machine;
    machine.tensors = inputs;
    for (const Node &node : graph.nodes) {
      ASSERT_EQ(node.target.find("_."), std::string::npos) << node.target;
      machine.run(node);
    }
    for (size_t i = 0; i < random.names.size(); ++i) {
      ASSERT_EQ(machine.tensors.at(graph.outputs[i].value).elements(),
                random.machine.tensors.at(random.names[i]).elements())
          << "seed " << seed << ", tensor " << random.names[i];
      ++compared;
    }
  }
  EXPECT_GT(compared, 10000);
  EXPECT_LT(refused, 700);
}

} // namespace
