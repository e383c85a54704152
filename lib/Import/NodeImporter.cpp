//===- NodeImporter.cpp - One node and its import -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeImporter.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;
using pt2::Argument;

void NodeImporter::note(const Twine &reason) {
  if (failure.empty())
    failure = reason.str();
}

LogicalResult NodeImporter::refuse(const Twine &reason) {
  note(reason);
  return llvm::failure();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

const Argument *NodeImporter::find(StringRef name) const {
  for (const Argument &argument : node.arguments)
    if (argument.name == name)
      return argument.kind == Argument::Kind::None ? nullptr : &argument;
  return nullptr;
}

bool NodeImporter::isGiven(StringRef name) const { return find(name); }

Tensor NodeImporter::lookup(const std::string &name) const {
  auto found = state.tensors.find(name);
  return found == state.tensors.end() ? Tensor() : found->second;
}

Tensor NodeImporter::optionalTensor(StringRef name) {
  const Argument *argument = find(name);
  if (!argument)
    return {};
  if (argument->kind == Argument::Kind::Tensor)
    return lookup(argument->tensors.front());
  note("with '" + name + "' that is not a tensor");
  return {};
}

Tensor NodeImporter::tensor(StringRef name) { return optionalTensor(name); }

std::vector<Tensor> NodeImporter::tensors(StringRef name) {
  std::vector<Tensor> result;
  if (const Argument *argument = find(name))
    for (const std::string &tensor : argument->tensors)
      result.push_back(tensor.empty() ? Tensor() : lookup(tensor));
  return result;
}

double NodeImporter::number(StringRef name, double fallback) {
  const Argument *argument = find(name);
  if (!argument)
    return fallback;
  if (argument->kind == Argument::Kind::Float)
    return argument->floats.front();
  if (argument->kind == Argument::Kind::Bool)
    return argument->flag;
  return integer(name, 0);
}

int64_t NodeImporter::integer(StringRef name, int64_t fallback) {
  const Argument *argument = find(name);
  if (!argument)
    return fallback;
  if (argument->kind == Argument::Kind::Size)
    if (std::optional<int64_t> value = argument->sizes.front().constant())
      return *value;
  note("with '" + name + "' that is not a number known when importing");
  return fallback;
}

std::optional<pt2::SizeExpr> NodeImporter::symbolicSize(StringRef name) const {
  const Argument *argument = find(name);
  if (!argument || argument->kind != Argument::Kind::Size ||
      argument->sizes.front().constant())
    return std::nullopt;
  return argument->sizes.front();
}

std::vector<int64_t> NodeImporter::integers(StringRef name) {
  std::vector<int64_t> result;
  const Argument *argument = find(name);
  if (!argument)
    return result;
  for (const pt2::SizeExpr &size : argument->sizes) {
    if (!size.constant())
      note("with '" + name + "' that are not known when importing");
    result.push_back(size.constant().value_or(0));
  }
  if (argument->kind != Argument::Kind::Sizes &&
      argument->kind != Argument::Kind::Size)
    note("with '" + name + "' that are not integers");
  return result;
}

bool NodeImporter::flag(StringRef name, bool fallback) {
  const Argument *argument = find(name);
  if (!argument)
    return fallback;
  if (argument->kind != Argument::Kind::Bool)
    note("with '" + name + "' that is not true or false");
  return argument->flag;
}

std::string NodeImporter::text(StringRef name, StringRef fallback) {
  const Argument *argument = find(name);
  return argument ? argument->text : fallback.str();
}

std::optional<Type> NodeImporter::type(StringRef name) {
  const Argument *argument = find(name);
  if (!argument)
    return std::nullopt;
  if (argument->kind == Argument::Kind::Type && argument->type)
    return elementType(builder.getContext(), *argument->type);
  note("with '" + name + "' of a type that smp has not");
  return std::nullopt;
}

int64_t NodeImporter::checkedDim(int64_t dim, int64_t rank) {
  int64_t front = dim < 0 ? dim + rank : dim;
  if (front >= 0 && front < rank)
    return front;
  note("with dim " + Twine(dim) + " of a tensor of rank " + Twine(rank));
  return 0;
}

int64_t NodeImporter::dim(StringRef name, int64_t fallback, int64_t rank) {
  return checkedDim(integer(name, fallback), rank);
}

SmallVector<int64_t> NodeImporter::dims(StringRef name, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t dim : integers(name))
    result.push_back(checkedDim(dim, rank));
  if (result.empty())
    llvm::append_range(result, llvm::seq<int64_t>(0, rank));
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

const pt2::TensorMeta *NodeImporter::meta(unsigned index) const {
  if (index >= node.outputs.size())
    return nullptr;
  auto found = state.graph->tensors.find(node.outputs[index]);
  return found == state.graph->tensors.end() ? nullptr : &found->second;
}

const Shape &NodeImporter::resultShape(unsigned index) {
  static const Shape scalar;
  const pt2::TensorMeta *found = meta(index);
  return found ? found->sizes : scalar;
}

Type NodeImporter::resultElement(unsigned index) {
  const pt2::TensorMeta *found = meta(index);
  if (!found || !found->type) {
    note("with a result of a type that smp has not");
    return builder.getF32Type();
  }
  return elementType(builder.getContext(), *found->type);
}

LogicalResult NodeImporter::give(Tensor tensor, unsigned index) {
  const pt2::TensorMeta *found = meta(index);
  if (!found)
    return refuse("without result " + Twine(index));
  Type element = resultElement(index);
  if (refused())
    return llvm::failure();
  if (tensor.shape != found->sizes || tensor.element() != element)
    return refuse("whose result of shape " + shapeText(found->sizes) +
                  " was imported as " + shapeText(tensor.shape));
  state.tensors[node.outputs[index]] = std::move(tensor);
  return success();
}

bool NodeImporter::isUsed(unsigned index) const {
  if (index >= node.outputs.size() || node.outputs[index].empty())
    return false;
  const std::string &name = node.outputs[index];
  auto isName = [&](const std::string &other) { return other == name; };
  for (const pt2::Node &other : state.graph->nodes)
    for (const Argument &argument : other.arguments)
      if (llvm::any_of(argument.tensors, isName))
        return true;
  return llvm::any_of(state.graph->outputs, [&](const pt2::GraphOutput &out) {
    return out.value == name;
  });
}

std::optional<int64_t> smp::batchRows(NodeImporter &n, const Tensor &tensor,
                                      int64_t dim) {
  if (dim >= tensor.rank())
    return std::nullopt;
  const pt2::SizeExpr &rows = tensor.shape[dim];
  int64_t batch = n.state.fixedBatch;
  if (batch == 0)
    return rows.multipleOf(pt2::SizeExpr::symbol(n.state.batchSymbol));
  int64_t size = rows.constant().value_or(0);
  return size > 0 && size % batch == 0 ? std::optional(size / batch)
                                       : std::nullopt;
}

std::optional<int64_t> smp::batchDim(NodeImporter &n, const Tensor &tensor) {
  for (int64_t dim = 0; dim < tensor.rank(); ++dim)
    if (batchRows(n, tensor, dim))
      return dim;
  return std::nullopt;
}

int64_t smp::rowsPerSample(NodeImporter &n, const Tensor &tensor) {
  if (std::optional<int64_t> rows = batchRows(n, tensor))
    return *rows;
  return tensor.shape.empty()
             ? 1
             : std::max<int64_t>(1, tensor.shape[0].constant().value_or(1));
}
