//===- InlineRegions.cpp - Regions that nodes run -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineRegions.h"
#include "Autocast.h"

using namespace smp;
using namespace smp::pt2;
using Kind = Argument::Kind;

namespace {

/// What holds inside a region.
struct Mode {
  bool gradientFree = false;
  /// The type that products are computed in; none outside autocast.
  std::optional<DataType> autocast;
};

/// How a node runs a graph.
struct Call {
  std::shared_ptr<const Region> region;
  /// Names of the tensors handed in; empty for sizes.
  std::vector<std::string> arguments;
  Mode mode;
};

class RegionInliner {
public:
  explicit RegionInliner(ExportedGraph &graph) : graph(graph) {}

  void run();

private:
  using Names = std::map<std::string, std::string, std::less<>>;

  void add(Node node, const Mode &mode);
  void inlineCall(const Node &node, const Call &call);
  Node renamed(Node node, const Names &names) const;

  ExportedGraph &graph;
  std::vector<Node> nodes;
  int64_t calls = 0;
};

/// The name that values of the graph have for those of a region.
std::string nameIn(const std::map<std::string, std::string, std::less<>> &names,
                   const std::string &name) {
  auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

/// The graph and the arguments that follow it; none when the node is not of
/// that form.
std::optional<Call> readCall(const Node &node, size_t place, Mode mode) {
  Call call;
  call.mode = mode;
  if (place >= node.arguments.size() ||
      node.arguments[place].kind != Kind::Graph)
    return std::nullopt;
  call.region = node.arguments[place].region;
  for (size_t i = place + 1; i < node.arguments.size(); ++i) {
    const Argument &argument = node.arguments[i];
    if (argument.kind == Kind::Tensors)
      call.arguments.insert(call.arguments.end(), argument.tensors.begin(),
                            argument.tensors.end());
    else
      call.arguments.push_back(
          argument.kind == Kind::Tensor ? argument.tensors.front() : "");
  }
  bool fits = call.arguments.size() == call.region->inputs.size() &&
              node.outputs.size() == call.region->outputs.size();
  return fits ? std::optional(call) : std::nullopt;
}

/// wrap_with_set_grad_enabled(enabled, graph, ...).
std::optional<Call> readGradientRegion(const Node &node, Mode mode) {
  if (node.arguments.empty() || node.arguments[0].kind != Kind::Bool)
    return std::nullopt;
  mode.gradientFree = !node.arguments[0].flag;
  return readCall(node, 1, mode);
}

/// wrap_with_autocast(device, dtype, enabled, cache, graph, ...).
std::optional<Call> readAutocastRegion(const Node &node, Mode mode) {
  if (node.arguments.size() < 5 || node.arguments[0].kind != Kind::Text ||
      node.arguments[2].kind != Kind::Bool)
    return std::nullopt;
  const Argument &type = node.arguments[1];
  if (!node.arguments[2].flag)
    mode.autocast.reset();
  else if (type.kind == Kind::Type)
    mode.autocast = type.type;
  else // the device's own
    mode.autocast =
        node.arguments[0].text == "cpu" ? DataType::BF16 : DataType::F16;
  return readCall(node, 4, mode);
}

bool runsGraph(const Node &node) {
  for (const Argument &argument : node.arguments)
    if (argument.kind == Kind::Graph)
      return true;
  return false;
}

/// y = detach(x), for floating tensors; else y is a copy of x.
Node leaving(const Node &call, const std::string &from, const std::string &to,
             bool detached) {
  Node node = call;
  node.target = detached ? "aten.detach.default" : "aten.alias.default";
  node.arguments.assign(1, Argument());
  node.arguments[0].kind = Kind::Tensor;
  node.arguments[0].name = "self";
  node.arguments[0].tensors = {from};
  node.outputs = {to};
  return node;
}

} // namespace

Node RegionInliner::renamed(Node node, const Names &names) const {
  for (Argument &argument : node.arguments)
    for (std::string &tensor : argument.tensors)
      tensor = nameIn(names, tensor);
  for (std::string &output : node.outputs)
    output = nameIn(names, output);
  return node;
}

void RegionInliner::inlineCall(const Node &node, const Call &call) {
  const Region &region = *call.region;
  // No name of Python holds such a character.
  std::string prefix = "region" + std::to_string(calls++) + "/";
  Names names;
  for (const auto &[name, meta] : region.tensors) {
    names[name] = prefix + name;
    graph.tensors.emplace(prefix + name, meta);
  }
  for (size_t i = 0; i < region.inputs.size(); ++i)
    if (!region.inputs[i].empty() && !call.arguments[i].empty())
      names[region.inputs[i]] = call.arguments[i];
  for (const Node &inner : region.nodes)
    add(renamed(inner, names), call.mode);
  for (size_t i = 0; i < region.outputs.size(); ++i) {
    auto meta = region.tensors.find(region.outputs[i]);
    if (node.outputs[i].empty() || meta == region.tensors.end())
      continue;
    bool detached = call.mode.gradientFree && meta->second.isFloating();
    nodes.push_back(leaving(node, nameIn(names, region.outputs[i]),
                            node.outputs[i], detached));
  }
}

void RegionInliner::add(Node node, const Mode &mode) {
  std::optional<Call> call;
  if (node.target == "higher_order.wrap_with_set_grad_enabled")
    call = readGradientRegion(node, mode);
  else if (node.target == "higher_order.wrap_with_autocast")
    call = readAutocastRegion(node, mode);
  if (call)
    return inlineCall(node, *call);
  node.gradientFree |= mode.gradientFree;
  if (runsGraph(node))
    node.refusal = "that runs a graph";
  if (mode.autocast)
    castArguments(node, *mode.autocast, graph.tensors, nodes);
  nodes.push_back(std::move(node));
}

void RegionInliner::run() {
  for (Node &node : std::exchange(graph.nodes, {}))
    add(std::move(node), Mode());
  graph.nodes = std::move(nodes);
}

void smp::pt2::inlineRegions(ExportedGraph &graph) {
  RegionInliner(graph).run();
}
