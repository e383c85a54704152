//===- ExportedGraph.cpp - What torch.export wrote ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/ExportedGraph.h"
#include "CallTree.h"
#include "GraphReader.h"

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

/// The number of the schema whose meaning this reader knows.
static constexpr int64_t kSchemaMajor = 8;

void GraphReader::checkVersion(const Json &root) {
  int64_t major = json.integer(json.object(root, "schema_version"), "major");
  if (!json.error() && major != kSchemaMajor)
    json.fail("expects schema version " + std::to_string(kSchemaMajor) +
              ", got " + std::to_string(major));
}

/// {"expr_str": "...", "hint": ...}.
SizeExpr GraphReader::readExpression(const Json &value) {
  std::string text = json.text(value, "expr_str");
  if (json.error())
    return {};
  Result<SizeExpr> parsed = SizeExpr::parse(text);
  if (const Json *hint = json.find(value, "hint"); hint && parsed) {
    const auto &terms = parsed->getTerms();
    bool symbol = terms.size() == 1 && terms.begin()->first.size() == 1 &&
                  terms.begin()->second == 1;
    if (symbol && json.find(*hint, "as_int"))
      result.examples[terms.begin()->first.front()] =
          json.integer(*hint, "as_int");
  }
  // What cannot be computed only matters if a tensor needs it.
  return parsed ? *parsed : SizeExpr::symbol(text);
}

/// A SymInt (`as_expr`, `as_int`) or the use of one (`as_name`, `as_int`).
SizeExpr GraphReader::readSize(const Json &value) {
  const Json *inner;
  std::string_view tag = json.tag(value, "size", inner);
  if (tag == "as_int")
    return json.integerOf(*inner, "as_int");
  if (tag == "as_expr")
    return readExpression(*inner);
  if (tag != "as_name") {
    json.expects("a size", value);
    return {};
  }
  std::string name = json.textOf(*inner, "as_name");
  auto found = symbols.find(name);
  if (found == symbols.end()) {
    json.fail("expects '" + name + "' to be a size of the graph, got no such");
    return {};
  }
  return found->second;
}

void GraphReader::readSymbols(const Json &graph) {
  for (const auto &[name, value] : json.object(graph, "sym_int_values").items())
    symbols[name] = readSize(value);
}

void GraphReader::readTensors(const Json &graph) {
  for (const auto &[name, value] :
       json.object(graph, "tensor_values").items()) {
    TensorMeta meta;
    meta.type = JsonReader::scalarType(json.integer(value, "dtype"));
    for (const Json &size : json.list(value, "sizes"))
      meta.sizes.push_back(readSize(size));
    if (json.find(value, "strides"))
      for (const Json &stride : json.list(value, "strides"))
        meta.strides.push_back(readSize(stride));
    tensors.emplace(name, std::move(meta));
  }
}

std::string GraphReader::tensorName(const Json &value) {
  std::string name = json.text(value, "name");
  if (!json.error() && !tensors.contains(name))
    json.fail("expects '" + name +
              "' to be a tensor of the graph, got no such");
  return name;
}

/// The tensor of an Argument; empty for numbers and None.
std::string GraphReader::argumentName(const Json &value) {
  const Json *inner;
  return json.tag(value, "arg", inner) == "as_tensor" ? tensorName(*inner) : "";
}

/// A spec of a signature: its tag, content and argument.
template <typename Visit>
static void forEachSpec(JsonReader &json, const Json &signature,
                        const char *key, Visit visit) {
  for (const Json &spec : json.list(signature, key)) {
    const Json *inner;
    std::string_view tag = json.tag(spec, key, inner);
    const Json *arg = json.find(*inner, "arg");
    visit(tag, *inner, arg ? *arg : spec);
  }
}

GraphInput GraphReader::readInput(std::string_view tag, const Json &inner,
                                  const Json &arg) {
  using Kind = GraphInput::Kind;
  if (tag == "parameter")
    return {Kind::Parameter, tensorName(arg),
            json.text(inner, "parameter_name")};
  if (tag == "buffer")
    return {Kind::Buffer, tensorName(arg), json.text(inner, "buffer_name"),
            json.flag(inner, "persistent", true)};
  if (tag == "tensor_constant")
    return {Kind::Constant, tensorName(arg),
            json.text(inner, "tensor_constant_name")};
  json.fail("expects inputs that are tensors, got '" + std::string(tag) + "'");
  return {};
}

void GraphReader::readInputs(const Json &signature) {
  size_t user = 0;
  forEachSpec(json, signature, "input_specs",
              [&](std::string_view tag, const Json &inner, const Json &arg) {
                if (tag == "constant_input") {
                  ++user;
                } else if (tag != "user_input") {
                  result.inputs.push_back(readInput(tag, inner, arg));
                } else {
                  size_t place = user++;
                  GraphInput input;
                  input.value = argumentName(arg);
                  if (place < inputPaths.size())
                    input.path = inputPaths[place];
                  // Without a name it is a number or None that the graph was
                  // specialised to.
                  if (!input.value.empty())
                    result.inputs.push_back(std::move(input));
                }
              });
}

void GraphReader::readOutputs(const Json &signature) {
  size_t user = 0;
  forEachSpec(json, signature, "output_specs",
              [&](std::string_view tag, const Json &inner, const Json &arg) {
                if (tag == "user_output") {
                  size_t place = user++;
                  GraphOutput output{argumentName(arg), ""};
                  if (place < outputPaths.size())
                    output.path = outputPaths[place];
                  if (!output.value.empty())
                    result.outputs.push_back(std::move(output));
                } else if (tag == "loss_output") {
                  result.outputs.push_back({tensorName(arg), ""});
                } else if (tag == "buffer_mutation") {
                  result.outputs.push_back(
                      {tensorName(arg), json.text(inner, "buffer_name")});
                } else if (tag != "user_input_mutation") {
                  // What becomes of an input after the step is of no use to
                  // training.
                  json.fail("expects outputs that are tensors, got '" +
                            std::string(tag) + "'");
                }
              });
}

/// What torch.export verified the graph as: "TRAINING" is as it was traced.
void GraphReader::readForm(const Json &root) {
  if (!json.find(root, "verifiers"))
    return;
  result.decomposed = true;
  for (const Json &verifier : json.list(root, "verifiers"))
    if (json.textOf(verifier, "verifiers") == "TRAINING")
      result.decomposed = false;
}

/// The names of arguments and results, from the trees of the outermost call.
void GraphReader::readCall(const Json &module) {
  const Json *calls = json.find(module, "module_call_graph");
  if (!calls || !calls->is_array() || calls->empty())
    return;
  const Json *signature = json.find(calls->front(), "signature");
  if (!signature)
    return;
  if (json.find(*signature, "in_spec"))
    inputPaths = callPaths(json.text(*signature, "in_spec"), CallSide::Inputs);
  if (json.find(*signature, "out_spec"))
    outputPaths =
        callPaths(json.text(*signature, "out_spec"), CallSide::Outputs);
}

Result<ExportedGraph> GraphReader::read(std::string_view text) {
  Json root = json.parse(text);
  if (!json.error())
    checkVersion(root);
  const Json &module = json.object(root, "graph_module");
  const Json &graph = json.object(module, "graph");
  const Json &signature = json.object(module, "signature");
  readSymbols(graph);
  readTensors(graph);
  readCall(module);
  readForm(root);
  readInputs(signature);
  readOutputs(signature);
  readNodes(graph, result.nodes);
  if (json.error())
    return *json.error();
  result.tensors = std::move(tensors);
  return std::move(result);
}

Result<ExportedGraph> ExportedGraph::parse(std::string_view text,
                                           const std::string &where) {
  return GraphReader(where).read(text);
}

//===----------------------------------------------------------------------===//
// Plain data
//===----------------------------------------------------------------------===//

const Argument *Node::find(std::string_view name) const {
  for (const Argument &argument : arguments)
    if (argument.name == name)
      return argument.kind == Argument::Kind::None ? nullptr : &argument;
  return nullptr;
}

bool TensorMeta::isContiguous() const {
  if (strides.size() != sizes.size())
    return false;
  std::optional<SizeExpr> expected = SizeExpr(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != SizeExpr(1) && (!expected || strides[i] != *expected))
      return false;
    if (expected)
      expected = SizeExpr::multiply(*expected, sizes[i]);
  }
  return true;
}
