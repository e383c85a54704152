//===- ExportedGraph.cpp - What torch.export wrote ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/ExportedGraph.h"
#include "JsonReader.h"
#include <charconv>

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

namespace {

/// The number of the schema whose meaning this reader knows.
constexpr int64_t kSchemaMajor = 8;

class GraphReader {
public:
  explicit GraphReader(const std::string &where) : json(where) {}

  Result<ExportedGraph> read(std::string_view text);

private:
  void checkVersion(const Json &root);
  void readSymbols(const Json &graph);
  void readTensors(const Json &graph);
  void readInputs(const Json &signature);
  void readOutputs(const Json &signature);
  void readNode(const Json &json);
  Argument readArgument(const Json &value);
  bool readTensorArgument(std::string_view tag, const Json &inner,
                          Argument &argument);
  bool readNumberArgument(std::string_view tag, const Json &inner,
                          Argument &argument);
  void readResult(const Json &value, Node &node);
  SizeExpr readSize(const Json &value);
  SizeExpr readExpression(const Json &value);
  std::string tensorName(const Json &value);
  std::string argumentName(const Json &value);

  JsonReader json;
  ExportedGraph result;
  /// Values of the graph that are sizes.
  std::map<std::string, SizeExpr> symbols;
};

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
    result.tensors.emplace(name, std::move(meta));
  }
}

std::string GraphReader::tensorName(const Json &value) {
  std::string name = json.text(value, "name");
  if (!json.error() && !result.tensors.contains(name))
    json.fail("expects '" + name +
              "' to be a tensor of the graph, got no such");
  return name;
}

/// The tensor of an Argument; empty for numbers and None.
std::string GraphReader::argumentName(const Json &value) {
  const Json *inner;
  return json.tag(value, "arg", inner) == "as_tensor" ? tensorName(*inner) : "";
}

void GraphReader::readInputs(const Json &signature) {
  for (const Json &spec : json.list(signature, "input_specs")) {
    const Json *inner;
    std::string_view tag = json.tag(spec, "input_specs", inner);
    const Json &arg =
        json.find(*inner, "arg") ? *json.find(*inner, "arg") : spec;
    GraphInput input;
    if (tag == "user_input") {
      input.value = argumentName(arg);
      // A number or None that the graph was specialised to.
      if (input.value.empty())
        continue;
    } else if (tag == "parameter") {
      input = {GraphInput::Kind::Parameter, tensorName(arg),
               json.text(*inner, "parameter_name")};
    } else if (tag == "buffer") {
      input = {GraphInput::Kind::Buffer, tensorName(arg),
               json.text(*inner, "buffer_name"),
               json.flag(*inner, "persistent", true)};
    } else if (tag == "tensor_constant") {
      input = {GraphInput::Kind::Constant, tensorName(arg),
               json.text(*inner, "tensor_constant_name")};
    } else if (tag == "constant_input") {
      continue;
    } else {
      json.fail("expects inputs that are tensors, got '" + std::string(tag) +
                "'");
    }
    result.inputs.push_back(std::move(input));
  }
}

void GraphReader::readOutputs(const Json &signature) {
  for (const Json &spec : json.list(signature, "output_specs")) {
    const Json *inner;
    std::string_view tag = json.tag(spec, "output_specs", inner);
    const Json &arg =
        json.find(*inner, "arg") ? *json.find(*inner, "arg") : spec;
    if (tag == "user_output") {
      if (std::string name = argumentName(arg); !name.empty())
        result.outputs.push_back({name, ""});
    } else if (tag == "loss_output") {
      result.outputs.push_back({tensorName(arg), ""});
    } else if (tag == "buffer_mutation") {
      result.outputs.push_back(
          {tensorName(arg), json.text(*inner, "buffer_name")});
    } else {
      json.fail("expects outputs that are tensors, got '" + std::string(tag) +
                "'");
    }
  }
}

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
    argument.sizes.push_back(json.integerOf(inner, "as_int"));
  } else if (tag == "as_sym_int") {
    argument.kind = Kind::Size;
    argument.sizes.push_back(readSize(inner));
  } else if (tag == "as_ints") {
    argument.kind = Kind::Sizes;
    for (const Json &item : json.listOf(inner, "as_ints"))
      argument.sizes.push_back(json.integerOf(item, "as_ints"));
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
  if (tag == "as_bool") {
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
    node.outputs.push_back("");
  }
}

/// "key,path,class;key,path,class", outermost first: the last path, without
/// the marks of repeated calls ("h.0@1").
std::string innermostModule(std::string_view stack) {
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

/// The last `File "...", line N` of a stack trace.
void readFrame(std::string_view trace, Node &node) {
  size_t at = trace.rfind("File \"");
  if (at == trace.npos)
    return;
  std::string_view rest = trace.substr(at + 6);
  size_t quote = rest.find("\", line ");
  if (quote == rest.npos)
    return;
  node.file = rest.substr(0, quote);
  std::string_view number = rest.substr(quote + 8);
  std::from_chars(number.data(), number.data() + number.size(), node.line);
}

std::string strippedTarget(std::string target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

void GraphReader::readNode(const Json &value) {
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
  result.nodes.push_back(std::move(node));
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
  readInputs(signature);
  readOutputs(signature);
  for (const Json &node : json.list(graph, "nodes")) {
    if (json.error())
      break;
    readNode(node);
  }
  if (json.error())
    return *json.error();
  return std::move(result);
}

} // namespace

Result<ExportedGraph> ExportedGraph::parse(std::string_view text,
                                           const std::string &where) {
  return GraphReader(where).read(text);
}
