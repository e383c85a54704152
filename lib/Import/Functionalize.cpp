//===- Functionalize.cpp - Mutation as new values -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functionalize.h"
#include "AtenNames.h"
#include "InPlaceTwins.h"
#include "SharedMemory.h"
#include "TensorViews.h"
#include <algorithm>
#include <array>
#include <set>

using namespace smp;
using namespace smp::pt2;
using Kind = Argument::Kind;

/// They take a tensor for its shape and type only.
static constexpr std::array kConstants = {
    "empty_like", "fill",       "full_like", "new_empty",
    "new_full",   "new_ones",   "new_zeros", "ones_like",
    "rand_like",  "randn_like", "zero",      "zeros_like"};

/// Whether gradients stop at the node.
static bool stopsGradients(const Node &node) {
  std::string_view name = AtenName(node.target).name;
  return node.gradientFree || isDetached(node) ||
         std::ranges::find(kConstants, name) != kConstants.end();
}

namespace {

class Functionalizer {
public:
  explicit Functionalizer(ExportedGraph &graph)
      : graph(graph),
        memory(graph.tensors, [this](Node node) { emit(std::move(node)); }) {}

  void run();

private:
  void addInput(const GraphInput &input);
  void add(const Node &node);
  void mutate(const Node &node, const Twin &twin);
  std::string twinValue(const Node &node, const Twin &twin,
                        const std::string &name);
  std::string refusalToChange(const std::string &name, const Node &node);
  void normalizeBatch(const Node &node);
  void emit(Node node);
  void emitUnary(const Node &like, const char *target,
                 const std::string &operand, const std::string &result);
  void refuse(Node node, const std::string &reason);
  void addOutputs();

  ExportedGraph &graph;
  std::vector<Node> nodes;
  SharedMemory memory;
  /// Values that gradients flow through.
  std::set<std::string, std::less<>> differentiable;
};

void Functionalizer::addInput(const GraphInput &input) {
  Storage storage;
  storage.input = &input;
  memory.addRoot(input.value, storage);
  if (input.kind == GraphInput::Kind::Parameter &&
      memory.metaOf(input.value).isFloating())
    differentiable.insert(input.value);
}

void Functionalizer::emit(Node node) {
  bool flows = false;
  if (!stopsGradients(node))
    for (const Argument &argument : node.arguments)
      for (const std::string &tensor : argument.tensors)
        flows |= differentiable.contains(tensor);
  for (const std::string &output : node.outputs)
    if (flows && memory.metaOf(output).isFloating())
      differentiable.insert(output);
  nodes.push_back(std::move(node));
}

void Functionalizer::emitUnary(const Node &like, const char *target,
                               const std::string &operand,
                               const std::string &result) {
  Node node = like;
  node.target = target;
  node.arguments = {tensorArgument("self", operand)};
  node.outputs = {result};
  emit(std::move(node));
}

/// Notes that the node cannot be imported; what it changes keeps a value.
void Functionalizer::refuse(Node node, const std::string &reason) {
  node.arguments.clear();
  node.outputs.clear();
  node.refusal = reason;
  nodes.push_back(std::move(node));
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

std::string Functionalizer::refusalToChange(const std::string &name,
                                            const Node &node) {
  const Storage &storage = memory.storageOf(name);
  using InputKind = GraphInput::Kind;
  if (storage.input && storage.input->kind == InputKind::Parameter)
    return "that changes parameter '" + storage.input->target + "'";
  if (storage.input && storage.input->kind == InputKind::Constant)
    return "that changes constant '" + storage.input->target + "'";
  // Up to the root, by views that may hide the change from gradients.
  bool hidden = node.gradientFree && !storage.gradientFree;
  const SharedTensor *at = &memory.tensor(name);
  for (; at->view; at = &memory.tensor(at->view->base))
    hidden |= isDetached(at->view->node);
  if (hidden && differentiable.contains(at->value))
    return "that changes a tensor with a gradient where none is recorded";
  return "";
}

/// The new value of what a node changes, in its own type.
std::string Functionalizer::twinValue(const Node &raw, const Twin &twin,
                                      const std::string &name) {
  Node node = raw;
  node.target = twin.target;
  memory.readArguments(node);
  std::optional<DataType> own = memory.metaOf(name).type;
  std::optional<DataType> type = computedType(node, twin, graph.tensors);
  for (Argument &argument : node.arguments)
    if (argument.name == "self")
      argument.name = twin.operand;
  std::string value = memory.fresh(name, type);
  node.outputs = {value};
  emit(std::move(node));
  if (type != own) {
    std::string wide = std::exchange(value, memory.fresh(name));
    emitUnary(raw, "aten._to_copy.default", wide, value);
  }
  // What leaves a region by mutation leaves it as its results do.
  if (raw.gradientFree && memory.metaOf(name).isFloating() &&
      !memory.storageOf(name).gradientFree) {
    std::string inner = std::exchange(value, memory.fresh(name));
    emitUnary(raw, "aten.detach.default", inner, value);
  }
  return value;
}

void Functionalizer::mutate(const Node &node, const Twin &twin) {
  const Argument *self = node.find("self");
  if (!self || self->kind != Kind::Tensor)
    return refuse(node, "that changes several tensors");
  std::string name = memory.own(self->tensors.front());
  memory.problem =
      twin.refusal.empty() ? refusalToChange(name, node) : twin.refusal;
  std::string value = twinValue(node, twin, name);
  memory.write(name, value, node);
  for (const std::string &output : node.outputs)
    if (!output.empty())
      memory.addAlias(output, name);
  if (!memory.problem.empty())
    refuse(node, memory.problem);
}

static bool isTrue(const Node &node, const char *name) {
  const Argument *argument = node.find(name);
  return argument && argument->kind == Kind::Bool && argument->flag;
}

/// Whether the node changes its running statistics, which its schema does not
/// say.
static bool updatesStatistics(const Node &node) {
  const Argument *mean = node.find("running_mean");
  const Argument *var = node.find("running_var");
  return AtenName(node.target).name == "batch_norm" &&
         isTrue(node, "training") && node.outputs.size() == 1 && mean && var &&
         mean->kind == Kind::Tensor && var->kind == Kind::Tensor;
}

/// The form of batch_norm whose results are: normalised, mean and reciprocal
/// deviation of the batch, new running mean, new running variance.
void Functionalizer::normalizeBatch(const Node &raw) {
  Node node = raw;
  node.target = "aten._native_batch_norm_legit_functional.default";
  memory.problem.clear();
  memory.readArguments(node);
  std::erase_if(node.arguments, [](const Argument &argument) {
    return argument.name == "cudnn_enabled";
  });
  std::string mean = raw.find("running_mean")->tensors.front();
  std::string var = raw.find("running_var")->tensors.front();
  for (const std::string &like : {mean, var, mean, var})
    node.outputs.push_back(memory.fresh(like));
  std::vector<std::string> outputs = node.outputs;
  emit(std::move(node));
  memory.addRoot(raw.outputs.front(), Storage());
  memory.write(mean, outputs[3], raw);
  memory.write(var, outputs[4], raw);
  if (!memory.problem.empty())
    refuse(raw, memory.problem);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void Functionalizer::add(const Node &node) {
  // Checks of shapes are not read, and sizes are no tensors.
  if (node.givesSizes || AtenName(node.target).name.starts_with("_assert_")) {
    nodes.push_back(node);
    return;
  }
  if (std::optional<Twin> twin = functionalTwin(node.target))
    return mutate(node, *twin);
  if (updatesStatistics(node))
    return normalizeBatch(node);
  Node functional = node;
  memory.problem.clear();
  memory.readArguments(functional);
  if (functional.refusal.empty())
    functional.refusal = memory.problem;
  emit(functional);
  memory.addResults(node, functional);
}

void Functionalizer::addOutputs() {
  for (GraphOutput &output : graph.outputs) {
    memory.problem.clear();
    output.value = memory.read(output.value);
    if (memory.problem.empty())
      continue;
    Node node;
    node.target = "output";
    refuse(node, memory.problem);
  }
  for (const GraphInput &input : graph.inputs) {
    if (input.kind != GraphInput::Kind::Buffer ||
        memory.storageOf(input.value).version == 0)
      continue;
    graph.outputs.push_back({memory.read(input.value), input.target});
  }
}

void Functionalizer::run() {
  for (const GraphInput &input : graph.inputs)
    addInput(input);
  for (const Node &node : std::exchange(graph.nodes, {}))
    add(node);
  addOutputs();
  graph.nodes = std::move(nodes);
}

} // namespace

void smp::pt2::functionalize(ExportedGraph &graph) {
  Functionalizer(graph).run();
}
