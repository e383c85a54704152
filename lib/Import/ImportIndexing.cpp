//===- ImportIndexing.cpp - Import of choices by integer tensors ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// Whether an argument is an input, whose integers are checked when data are
/// opened.
static bool isInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  return function && function.getArgAttrOfType<StringAttr>(
                         argument.getArgNumber(), kRoleAttr);
}

/// 0, 1, 2 ... along a vector, as `arange` makes them.
static bool isArange(const Tensor &tensor) {
  Operation *op = tensor.value.getDefiningOp();
  while (isa_and_present<CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<IotaOp>(op) && tensor.rank() == 1;
}

/// A size as integers of this type and shape.
static Tensor sizeAs(NodeImporter &n, const pt2::SizeExpr &size, Type element,
                     const Shape &shape) {
  if (std::optional<int64_t> constant = size.constant())
    return n.fill(double(*constant), element, shape);
  return n.expand(n.cast(n.elementCount({size}), element), shape, {});
}

/// PyTorch counts negative indices from the end.
static Tensor countedFromEnd(NodeImporter &n, const Tensor &indices,
                             const pt2::SizeExpr &size) {
  if (isArange(indices) || isInput(indices.value))
    return indices;
  Type element = indices.element();
  Tensor zero = n.fill(0.0, element, indices.shape);
  Tensor isNegative = n.compare(ComparePredicate::LT, indices, zero);
  Tensor end = sizeAs(n, size, element, indices.shape);
  return n.select(isNegative, n.binary<AddOp>(indices, end), indices);
}

/// As rows of a table, which have a gradient: [i, j] is row i · size(1) + j.
/// Null if the table is too large.
static Tensor rowsAt(NodeImporter &n, const Tensor &operand,
                     ArrayRef<Tensor> indices, const Shape &result) {
  auto kept = operand.shape.begin() + indices.size();
  std::optional<pt2::SizeExpr> rows =
      elementsOf(Shape(operand.shape.begin(), kept));
  std::optional<pt2::SizeExpr> width =
      elementsOf(Shape(kept, operand.shape.end()));
  if (!rows || !width)
    return {};
  Type element = n.builder.getI64Type();
  Tensor place = n.cast(indices.front(), element);
  for (auto [dim, tensor] : llvm::drop_begin(llvm::enumerate(indices)))
    place =
        n.binary<AddOp>(n.binary<MulOp>(place, sizeAs(n, operand.shape[dim],
                                                      element, place.shape)),
                        n.cast(tensor, element));
  Tensor table = n.reshape(operand, {*rows, *width});
  Shape shape = place.shape;
  shape.push_back(*width);
  Tensor chosen = {EmbeddingOp::create(n.builder, n.loc,
                                       tensorType(operand.element(), shape),
                                       table.value, place.value),
                   shape};
  return n.reshape(chosen, result);
}

/// One place of each sample, [arange(B), i] of [B, S, ...], which says that
/// samples stay apart.
static Tensor placesOfSamples(NodeImporter &n, const Tensor &operand,
                              const Tensor &places, const Shape &result) {
  Shape shape = operand.shape, column(operand.rank(), pt2::SizeExpr(1));
  shape[1] = pt2::SizeExpr(1);
  column[0] = shape[0];
  Tensor indices = n.broadcast(n.reshape(places, column), shape);
  return n.reshape(
      {GatherOp::create(n.builder, n.loc, tensorType(operand.element(), shape),
                        operand.value, indices.value, 1),
       shape},
      result);
}

/// The slices of the operand at `indices`, of one shape, of its first dims.
/// Null if it is too large.
static Tensor index(NodeImporter &n, Tensor operand, ArrayRef<Tensor> indices) {
  Shape shape = indices.front().shape;
  shape.insert(shape.end(), operand.shape.begin() + indices.size(),
               operand.shape.end());
  if (isa<FloatType>(operand.element())) {
    bool bySample = indices.size() == 2 && isArange(indices[0]) &&
                    indices[0].shape[0] == operand.shape[0];
    return bySample ? placesOfSamples(n, operand, indices[1], shape)
                    : rowsAt(n, operand, indices, shape);
  }
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
  for (auto [dim, tensor] : llvm::zip(dims, indices))
    tensor = n.broadcast(countedFromEnd(n, tensor, operand.shape[dim]), shape);
  if (n.refused())
    return failure();
  permutation.assign(dims.begin(), dims.end());
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      permutation.push_back(dim);
  Tensor result = index(n, n.transpose(operand, permutation), indices);
  if (!result)
    return n.refuse("of too large a tensor");
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
  if (!result)
    return n.refuse("of too large a tensor");
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
