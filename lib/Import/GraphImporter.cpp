//===- GraphImporter.cpp - One graph as a function ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphImporter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace smp;
using pt2::GraphInput;

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

std::string smp::placeOf(const pt2::Node &node) {
  // The whole model, or what the export added to it as its loss.
  std::string place =
      node.scope.empty() ? "outside of its modules" : "in '" + node.scope + "'";
  if (!node.file.empty())
    place += " at " + node.file + ":" + std::to_string(node.line);
  return place;
}

void Refusals::add(const pt2::Node &node, const std::string &reason) {
  Entry &entry = entries[{node.target, reason}];
  if (entry.count++ > 0)
    return;
  entry.first = placeOf(node);
}

void Refusals::add(const std::string &what, const std::string &reason) {
  ++entries[{what, reason}].count;
}

std::string Refusals::str() const {
  std::string text;
  for (const auto &[key, entry] : entries) {
    text += "\n  '" + key.first + "'" +
            (key.second.empty() ? "" : " " + key.second) + ", " +
            std::to_string(entry.count) +
            (entry.count == 1 ? " time" : " times");
    if (!entry.first.empty())
      text += (entry.count == 1 ? ", " : ", first ") + entry.first;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

RankedTensorType GraphImporter::typeOf(const std::string &value) {
  auto found = graph.tensors.find(value);
  if (found == graph.tensors.end() || !found->second.type) {
    refusals.add(value, "of an element type that smp has not");
    return tensorType(builder.getF32Type(), {});
  }
  return tensorType(elementType(builder.getContext(), *found->second.type),
                    found->second.sizes);
}

Location GraphImporter::locationOf(const pt2::Node &node) {
  if (node.file.empty())
    return builder.getUnknownLoc();
  return FileLineColLoc::get(builder.getContext(), node.file, node.line, 0);
}

static NamedAttribute text(OpBuilder &builder, StringRef name,
                           const std::string &value) {
  return builder.getNamedAttr(name, builder.getStringAttr(value));
}

void GraphImporter::addFunction(ModuleOp module, StringRef functionName) {
  SmallVector<Type> inputs, results;
  SmallVector<DictionaryAttr> inputAttrs, resultAttrs;
  for (const GraphInput &input : graph.inputs) {
    if (input.kind != GraphInput::Kind::User)
      continue;
    pt2::Description::Port port = names.input(input.value);
    inputs.push_back(typeOf(input.value));
    inputAttrs.push_back(
        builder.getDictionaryAttr({text(builder, kNameAttr, port.name),
                                   text(builder, kRoleAttr, port.role)}));
  }
  size_t place = 0;
  for (const pt2::GraphOutput &output : graph.outputs) {
    if (!isReturned(output))
      continue;
    pt2::Description::Port port =
        output.mutates.empty()
            ? names.output(graphName, place++, output.value)
            : pt2::Description::Port{output.mutates, "state"};
    results.push_back(typeOf(output.value));
    resultAttrs.push_back(
        builder.getDictionaryAttr({text(builder, kNameAttr, port.name),
                                   text(builder, kRoleAttr, port.role)}));
  }
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, module.getLoc(), functionName,
                                  builder.getFunctionType(inputs, results));
  function.setAllArgAttrs(inputAttrs);
  function.setAllResultAttrs(resultAttrs);
  builder.setInsertionPointToStart(function.addEntryBlock());
}

void GraphImporter::addArguments() {
  state.sizes = SizeValues(&function.getBody().front());
  unsigned index = 0;
  for (const GraphInput &input : graph.inputs) {
    if (input.kind != GraphInput::Kind::User) {
      bound[input.value] = &input;
      continue;
    }
    Tensor argument{function.getArgument(index++),
                    graph.tensors.find(input.value)->second.sizes};
    for (auto [dim, size] : llvm::enumerate(argument.shape)) {
      const auto &terms = size.getTerms();
      if (terms.size() != 1 || terms.begin()->first.size() != 1 ||
          terms.begin()->second != 1)
        continue;
      const std::string &symbol = terms.begin()->first.front();
      state.sizes.define(symbol, argument.value, dim);
      if (dim == 0 && state.batchSymbol.empty())
        state.batchSymbol = symbol;
    }
    state.tensors[input.value] = argument;
  }
}

//===----------------------------------------------------------------------===//
// Parameters and states
//===----------------------------------------------------------------------===//

Value GraphImporter::getParameter(const GraphInput &input,
                                  const std::string &scope, Location loc) {
  const std::string &alias = names.aliasFor(input.target, scope);
  Value &value = reads["parameter " + alias];
  if (!value)
    value = GetParameterOp::create(builder, loc, typeOf(input.value),
                                   names.namesOf(input.target).front(), alias);
  return value;
}

Value GraphImporter::getStored(const GraphInput &input, Location loc) {
  Value &value = reads["state " + input.target];
  if (value)
    return value;
  RankedTensorType type = typeOf(input.value);
  if (input.kind == GraphInput::Kind::Buffer)
    return value = GetStateOp::create(builder, loc, type, input.target);
  if (DenseElementsAttr elements =
          elementsOf(archive, input.target, type, refusals))
    value = ConstantOp::create(builder, loc, type, elements);
  return value;
}

void GraphImporter::bindInput(const std::string &value,
                              const std::string &scope, Location loc) {
  auto found = bound.find(value);
  if (found == bound.end())
    return;
  const GraphInput &input = *found->second;
  Value read = input.kind == GraphInput::Kind::Parameter
                   ? getParameter(input, scope, loc)
                   : getStored(input, loc);
  state.tensors[value] = {read, graph.tensors.find(value)->second.sizes};
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Checks that every tensor has a value, and that the arguments a rule reads
/// without asking are there.
static LogicalResult checkNeeds(const ImportRule &rule, NodeImporter &n) {
  for (const pt2::Argument &argument : n.node.arguments)
    for (const std::string &tensor : argument.tensors) {
      auto found = n.state.tensors.find(tensor);
      bool given = found != n.state.tensors.end() && found->second;
      if (!tensor.empty() && !given)
        return n.refuse("with '" + argument.name +
                        "' that no node before gives");
    }
  SmallVector<StringRef> needs;
  rule.needs.split(needs, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef name : needs) {
    std::vector<Tensor> tensors = n.tensors(name);
    if (tensors.empty())
      return n.refuse("without '" + name + "'");
    for (const Tensor &tensor : tensors)
      if (!tensor)
        return n.refuse("with '" + name + "' that is not there");
  }
  return success();
}

LogicalResult GraphImporter::applyRule(const pt2::Node &node,
                                       NodeImporter &importer) {
  const ImportRule *rule = findRule(node.target);
  if (!rule)
    return failure();
  if (failed(checkNeeds(*rule, importer)) || failed(rule->import(importer)))
    return failure();
  return success(!importer.refused());
}

void GraphImporter::importNode(const pt2::Node &node) {
  if (isIgnored(node))
    return;
  listener.scope = node.scope;
  Location loc = locationOf(node);
  for (const pt2::Argument &argument : node.arguments)
    for (const std::string &value : argument.tensors)
      bindInput(value, node.scope, loc);
  NodeImporter importer(node, state, builder, loc);
  if (node.refusal.empty() && succeeded(applyRule(node, importer)))
    return;
  refusals.add(node, node.refusal.empty() ? importer.problem() : node.refusal);
  // Stand-ins, so that the rest of the graph is looked at as well.
  for (const std::string &output : node.outputs) {
    auto meta = graph.tensors.find(output);
    if (meta == graph.tensors.end())
      continue;
    Type element = elementType(builder.getContext(),
                               meta->second.type.value_or(DataType::F32));
    state.tensors[output] = importer.fill(0.0, element, meta->second.sizes);
  }
}

void GraphImporter::addReturn() {
  SmallVector<Value> results;
  listener.scope = "";
  for (const pt2::GraphOutput &output : graph.outputs) {
    if (!isReturned(output))
      continue;
    bindInput(output.value, "", builder.getUnknownLoc());
    auto found = state.tensors.find(output.value);
    if (found == state.tensors.end() || !found->second)
      refusals.add(output.value, "is an output that no node gives");
    else
      results.push_back(found->second.value);
  }
  func::ReturnOp::create(builder, function.getLoc(), results);
}

void GraphImporter::run(ModuleOp module, StringRef functionName) {
  builder = OpBuilder(module.getContext(), &listener);
  addFunction(module, functionName);
  addArguments();
  for (const pt2::Node &node : graph.nodes)
    importNode(node);
  addReturn();
}
