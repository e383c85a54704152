//===- ImportIndexing.cpp - Import of choices by integer tensors ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

static bool isIndex(const Tensor &tensor) {
  return tensor.element().isInteger(64) || tensor.element().isInteger(32);
}

/// The row of the padding index is read like any other, but PyTorch gives it
/// no gradient.
static Tensor withoutPaddingGradient(NodeImporter &n, const Tensor &rows,
                                     const Tensor &indices, int64_t padding) {
  Tensor number = n.fill(padding, indices.element(), indices.shape);
  Tensor isPadding = n.compare(ComparePredicate::EQ, indices, number);
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, indices.rank()));
  return n.select(n.expand(isPadding, rows.shape, dims),
                  n.unary<StopGradientOp>(rows), rows);
}

static LogicalResult importEmbedding(NodeImporter &n) {
  Tensor table = n.tensor("weight"), indices = n.tensor("indices");
  int64_t padding = n.integer("padding_idx", -1);
  if (n.flag("scale_grad_by_freq", false) || table.rank() != 2 ||
      !isIndex(indices))
    return n.refuse("with scale_grad_by_freq or an odd table");
  Shape shape = indices.shape;
  shape.push_back(table.shape.back());
  Tensor rows = {EmbeddingOp::create(n.builder, n.loc,
                                     tensorType(table.element(), shape),
                                     table.value, indices.value),
                 shape};
  if (n.refused())
    return failure();
  return n.give(
      padding < 0 ? rows : withoutPaddingGradient(n, rows, indices, padding));
}

static LogicalResult importGather(NodeImporter &n) {
  Tensor operand = n.tensor("self"), index = n.tensor("index");
  int64_t dim = n.dim("dim", 0, operand.rank());
  if (n.refused())
    return failure();
  if (index.rank() != operand.rank() || !isIndex(index))
    return n.refuse("with indices of another rank");
  // PyTorch lets the indices cover only the first places of other dims.
  for (int64_t other = 0; other < operand.rank(); ++other) {
    std::optional<int64_t> size = index.shape[other].constant();
    if (other == dim || index.shape[other] == operand.shape[other])
      continue;
    if (!size)
      return n.refuse("with indices of another shape");
    operand = n.slice(operand, other, 0, *size);
  }
  if (n.refused())
    return failure();
  return n.give({GatherOp::create(n.builder, n.loc,
                                  tensorType(operand.element(), index.shape),
                                  operand.value, index.value, dim),
                 index.shape});
}

/// The common shape of tensors that broadcast to each other.
static Shape broadcastShape(NodeImporter &n, ArrayRef<Tensor> tensors) {
  Shape result;
  for (const Tensor &tensor : tensors) {
    Shape longer = result, shorter = tensor.shape;
    if (longer.size() < shorter.size())
      std::swap(longer, shorter);
    size_t offset = longer.size() - shorter.size();
    for (size_t i = 0; i < shorter.size(); ++i)
      if (longer[offset + i] == pt2::SizeExpr(1))
        longer[offset + i] = shorter[i];
    result = longer;
  }
  return result;
}

static Tensor index(NodeImporter &n, Tensor operand, ArrayRef<Tensor> indices) {
  Shape shape = indices.front().shape;
  shape.insert(shape.end(), operand.shape.begin() + indices.size(),
               operand.shape.end());
  SmallVector<Value> values;
  for (const Tensor &tensor : indices)
    values.push_back(tensor.value);
  return {IndexOp::create(n.builder, n.loc,
                          tensorType(operand.element(), shape), operand.value,
                          values),
          shape};
}

/// operand[:, :, i, j, :]: the indexed dims go to the front and, as they are
/// neighbours, their result back to the place of the first.
static LogicalResult importIndex(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  std::vector<Tensor> listed = n.tensors("indices"), indices;
  SmallVector<int64_t> dims, permutation;
  for (auto [dim, tensor] : llvm::enumerate(listed)) {
    if (!tensor)
      continue;
    if (!isIndex(tensor))
      return n.refuse("by a mask");
    dims.push_back(dim);
    indices.push_back(tensor);
  }
  if (dims.empty() || dims.back() >= operand.rank() ||
      dims.back() - dims.front() + 1 != int64_t(dims.size()))
    return n.refuse("of dims that are not neighbours");
  Shape shape = broadcastShape(n, indices);
  for (Tensor &tensor : indices)
    tensor = n.broadcast(tensor, shape);
  if (n.refused())
    return failure();
  permutation.assign(dims.begin(), dims.end());
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      permutation.push_back(dim);
  Tensor result = index(n, n.transpose(operand, permutation), indices);
  int64_t first = dims.front(), count = shape.size();
  SmallVector<int64_t> back;
  for (int64_t dim = 0; dim < first; ++dim)
    back.push_back(count + dim);
  llvm::append_range(back, llvm::seq<int64_t>(0, count));
  for (int64_t dim = count + first; dim < result.rank(); ++dim)
    back.push_back(dim);
  return n.give(n.transpose(result, back));
}

static LogicalResult importIndexSelect(NodeImporter &n) {
  Tensor operand = n.tensor("self"), indices = n.tensor("index");
  int64_t dim = n.dim("dim", 0, operand.rank());
  if (n.refused())
    return failure();
  if (indices.rank() != 1 || !isIndex(indices))
    return n.refuse("with indices that are no vector");
  Tensor result = index(n, n.moveDim(operand, dim, 0), indices);
  return n.give(n.moveDim(result, 0, dim));
}

ArrayRef<ImportRule> smp::indexRules() {
  static const ImportRule rules[] = {
      {"aten.embedding.default", importEmbedding, "weight indices"},
      {"aten.gather.default", importGather, "self index"},
      {"aten.index.Tensor", importIndex, "self"},
      {"aten.index_select.default", importIndexSelect, "self index"},
  };
  return rules;
}
