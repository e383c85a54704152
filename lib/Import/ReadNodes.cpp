//===- ReadNodes.cpp - Reads the nodes of an exported graph ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphReader.h"
#include <charconv>

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

bool GraphReader::readTensorArgument(std::string_view tag, const Json &inner,
                                     Argument &argument) {
  using Kind = Argument::Kind;
  if (tag == "as_none") {
    argument.kind = Kind::None;
  } else if (tag == "as_tensor") {
    argument.kind = Kind::Tensor;
    argument.tensors.push_back(tensorName(inner));
  } else if (tag == "as_optional_tensor") {
    argument.tensors.push_back(argumentName(inner));
    argument.kind = argument.tensors[0].empty() ? Kind::None : Kind::Tensor;
  } else if (tag == "as_tensors" || tag == "as_optional_tensors") {
    argument.kind = Kind::Tensors;
    for (const Json &item : json.listOf(inner, "arg"))
      argument.tensors.push_back(tag == "as_tensors" ? tensorName(item)
                                                     : argumentName(item));
  } else {
    return false;
  }
  return true;
}

bool GraphReader::readNumberArgument(std::string_view tag, const Json &inner,
                                     Argument &argument) {
  using Kind = Argument::Kind;
  if (tag == "as_int") {
    argument.kind = Kind::Size;
    argument.sizes.emplace_back(json.integerOf(inner, "as_int"));
  } else if (tag == "as_sym_int") {
    argument.kind = Kind::Size;
    argument.sizes.push_back(readSize(inner));
  } else if (tag == "as_ints") {
    argument.kind = Kind::Sizes;
    for (const Json &item : json.listOf(inner, "as_ints"))
      argument.sizes.emplace_back(json.integerOf(item, "as_ints"));
  } else if (tag == "as_sym_ints") {
    argument.kind = Kind::Sizes;
    for (const Json &item : json.listOf(inner, "as_sym_ints"))
      argument.sizes.push_back(readSize(item));
  } else if (tag == "as_float") {
    argument.kind = Kind::Float;
    argument.floats.push_back(json.numberOf(inner, "as_float"));
  } else if (tag == "as_floats") {
    argument.kind = Kind::Floats;
    for (const Json &item : json.listOf(inner, "as_floats"))
      argument.floats.push_back(json.numberOf(item, "as_floats"));
  } else {
    return false;
  }
  return true;
}

Argument GraphReader::readArgument(const Json &value) {
  using Kind = Argument::Kind;
  Argument argument;
  const Json *inner;
  std::string_view tag = json.tag(value, "arg", inner);
  if (readTensorArgument(tag, *inner, argument) ||
      readNumberArgument(tag, *inner, argument))
    return argument;
  if (tag == "as_graph") {
    argument.kind = Kind::Graph;
    argument.region = readRegion(*inner);
  } else if (tag == "as_bool") {
    argument.kind = Kind::Bool;
    argument.flag = json.flag(value, "as_bool", false);
  } else if (tag == "as_string") {
    argument.kind = Kind::Text;
    argument.text = json.textOf(*inner, "as_string");
  } else if (tag == "as_scalar_type") {
    argument.kind = Kind::Type;
    argument.type =
        JsonReader::scalarType(json.integerOf(*inner, "as_scalar_type"));
  } else {
    argument.kind = Kind::Other;
    argument.text = tag;
  }
  return argument;
}

void GraphReader::readResult(const Json &value, Node &node) {
  const Json *inner;
  std::string_view tag = json.tag(value, "outputs", inner);
  if (tag == "as_tensor") {
    node.outputs.push_back(tensorName(*inner));
  } else if (tag == "as_tensors") {
    for (const Json &item : json.list(value, "as_tensors"))
      node.outputs.push_back(tensorName(item));
  } else if (tag.starts_with("as_sym_")) {
    node.givesSizes = true;
  } else {
    node.outputs.emplace_back("");
  }
}

/// {"name": ..., "graph": {"inputs", "outputs", "nodes", "tensor_values",
/// "sym_int_values"}}: its names are its own.
std::shared_ptr<const Region> GraphReader::readRegion(const Json &value) {
  const Json &graph = json.object(value, "graph");
  auto region = std::make_shared<Region>();
  TensorMetas outerTensors = std::exchange(tensors, {});
  std::map<std::string, SizeExpr> outerSymbols = std::exchange(symbols, {});
  readSymbols(graph);
  readTensors(graph);
  for (const Json &input : json.list(graph, "inputs"))
    region->inputs.push_back(argumentName(input));
  for (const Json &output : json.list(graph, "outputs")) {
    const Json *inner;
    if (json.tag(output, "outputs", inner) != "as_tensors")
      region->outputs.push_back(argumentName(output));
    else
      for (const Json &item : json.listOf(*inner, "outputs"))
        region->outputs.push_back(tensorName(item));
  }
  readNodes(graph, region->nodes);
  region->tensors = std::exchange(tensors, std::move(outerTensors));
  symbols = std::move(outerSymbols);
  return region;
}

/// "key,path,class;key,path,class", outermost first: the last path, without
/// the marks of repeated calls ("h.0@1").
static std::string innermostModule(std::string_view stack) {
  std::string_view last = stack.substr(stack.rfind(';') + 1);
  // Class names have no commas; paths may, as in "layers.slice(0, 2, None).1".
  size_t begin = last.find(','), end = last.rfind(',');
  if (begin == last.npos || begin >= end)
    return "";
  std::string_view path = last.substr(begin + 1, end - begin - 1);
  if (path.starts_with("_empty_nn_module_stack"))
    return "";
  return std::string(path.substr(0, path.find('@')));
}

/// A path below the folder that its package was installed in.
static std::string_view withinPackages(std::string_view path) {
  for (std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (size_t at = path.rfind(folder); at != path.npos)
      return path.substr(at + folder.size());
  return path;
}

/// The innermost `File "...", line N` of a stack trace that is not PyTorch's
/// own, whose lines say nothing of the model; else the innermost.
static void readFrame(std::string_view trace, Node &node) {
  constexpr std::string_view kStart = "File \"", kLine = "\", line ";
  bool own = false;
  for (size_t end = trace.npos; !own;) {
    size_t at = trace.rfind(kStart, end);
    if (at == trace.npos)
      return;
    std::string_view rest = trace.substr(at + kStart.size());
    size_t quote = rest.find(kLine);
    if (quote == rest.npos)
      return;
    std::string_view file = withinPackages(rest.substr(0, quote));
    own = !file.starts_with("torch/");
    if (own || node.file.empty()) {
      node.file = file;
      std::string_view number = rest.substr(quote + kLine.size());
      std::from_chars(number.data(), number.data() + number.size(), node.line);
    }
    if (at == 0)
      return;
    end = at - 1;
  }
}

static std::string strippedTarget(const std::string &target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

Node GraphReader::readNode(const Json &value) {
  Node node;
  node.target = strippedTarget(json.text(value, "target"));
  for (const Json &input : json.list(value, "inputs")) {
    const Json *arg = json.find(input, "arg");
    Argument argument = readArgument(arg ? *arg : input);
    argument.name = json.text(input, "name");
    node.arguments.push_back(std::move(argument));
  }
  for (const Json &output : json.list(value, "outputs"))
    readResult(output, node);
  const Json &metadata = json.object(value, "metadata");
  if (json.find(metadata, "nn_module_stack"))
    node.scope = innermostModule(json.text(metadata, "nn_module_stack"));
  if (json.find(metadata, "stack_trace"))
    readFrame(json.text(metadata, "stack_trace"), node);
  return node;
}

void GraphReader::readNodes(const Json &graph, std::vector<Node> &into) {
  for (const Json &node : json.list(graph, "nodes")) {
    if (json.error())
      return;
    into.push_back(readNode(node));
  }
}
