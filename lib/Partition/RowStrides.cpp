//===- RowStrides.cpp - Where the rows of a batch lie in a value ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowStrides.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The number of places below dim `dim`.
static int64_t below(ArrayRef<int64_t> shape, size_t dim) {
  return ShapedType::getNumElements(shape.drop_front(dim + 1));
}

/// The dim that the rows are a part of, if it is one.
static std::optional<size_t> dimOf(ArrayRef<int64_t> shape, int64_t stride,
                                   int64_t rows) {
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (int64_t width = below(shape, dim);
        stride % width == 0 && shape[dim] * width % (stride * rows) == 0)
      return dim;
  return std::nullopt;
}

/// The stride of a result from that of an operand. What an op does not say
/// otherwise leaves rows where they are: in the same dim of as many places.
std::optional<int64_t> RowStrides::through(Value operand, OpResult result) {
  std::optional<int64_t> stride = strideOf(operand);
  Operation *op = result.getOwner();
  if (!stride || isa<ReshapeOp>(op))
    return stride;
  ArrayRef<int64_t> from = shapeOf(operand), to = shapeOf(result);
  std::optional<size_t> dim = dimOf(from, *stride, rows);
  if (!dim)
    return std::nullopt;
  int64_t inner = *stride / below(from, *dim);
  size_t moved = *dim;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    moved = llvm::find(transpose.getPermutation(), int64_t(*dim)) -
            transpose.getPermutation().begin();
  else if (from.size() != to.size() &&
           from.take_front(*dim + 1) != to.take_front(*dim + 1))
    return std::nullopt;
  if (to.size() <= moved || to[moved] != from[*dim])
    return std::nullopt;
  return inner * below(to, moved);
}

std::optional<int64_t> RowStrides::compute(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result) {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (shape.empty() || shape[0] % rows != 0)
      return std::nullopt;
    return ShapedType::getNumElements(shape) / rows;
  }
  std::optional<int64_t> found;
  for (Value operand : result.getOwner()->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    std::optional<int64_t> stride = through(operand, result);
    if (found && stride && *found != *stride)
      return std::nullopt; // rows meet others
    if (stride)
      found = stride;
  }
  return found;
}

std::optional<int64_t> RowStrides::strideOf(Value value) {
  auto entry = known.find(value);
  if (entry != known.end())
    return entry->second;
  // All places are of the only row.
  std::optional<int64_t> stride =
      rows == 1 ? ShapedType::getNumElements(shapeOf(value)) : compute(value);
  known[value] = stride;
  return stride;
}
