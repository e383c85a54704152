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

/// The number of tensors before one of these values.
template <typename Range>
static size_t tensorsBefore(Range values, size_t index) {
  return llvm::count_if(
      llvm::make_range(values.begin(), values.begin() + index),
      [](Value value) { return isa<RankedTensorType>(value.getType()); });
}

RowStrides::Places RowStrides::through(OpOperand &operand, OpResult result) {
  Places places = placesOf(operand.get());
  Operation *op = result.getOwner();
  if (places.kind != Places::OfRows || isa<ReshapeOp>(op))
    return places;
  ArrayRef<int64_t> from = shapeOf(operand.get()), to = shapeOf(result);
  std::optional<size_t> dim = dimOf(from, places.stride, rows);
  auto split = dyn_cast<ShardingRuleOpInterface>(op);
  if (!dim || !split)
    return {Places::Mixed};
  ShardingRule rule = split.getShardingRule();
  size_t number = operand.getOperandNumber();
  const ShardingRule::Dim &factors =
      rule.operands[tensorsBefore(op->getOperands(), number)][*dim];
  const ShardingRule::Shape &dims =
      rule.results[tensorsBefore(op->getResults(), result.getResultNumber())];
  const auto *moved = llvm::find(dims, factors);
  if (moved == dims.end() || llvm::any_of(factors, [&](unsigned factor) {
        return rule.factors[factor].isWhole;
      }))
    return {Places::Mixed};
  int64_t inner = places.stride / below(from, *dim);
  return {Places::OfRows, inner * below(to, moved - dims.begin())};
}

RowStrides::Places RowStrides::compute(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result) {
    ArrayRef<int64_t> shape = shapeOf(value);
    if (shape.empty() || shape[0] % rows != 0)
      return {};
    return {Places::OfRows, ShapedType::getNumElements(shape) / rows};
  }
  Places found;
  for (OpOperand &operand : result.getOwner()->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Places places = through(operand, result);
    bool meets = found.kind == Places::OfRows &&
                 places.kind == Places::OfRows && found.stride != places.stride;
    if (meets || places.kind == Places::Mixed)
      return {Places::Mixed};
    if (places.kind == Places::OfRows)
      found = places;
  }
  return found;
}

RowStrides::Places RowStrides::placesOf(Value value) {
  auto entry = known.find(value);
  if (entry != known.end())
    return entry->second;
  // All places are of the only row.
  Places places = rows == 1 ? Places{Places::OfRows,
                                     ShapedType::getNumElements(shapeOf(value))}
                            : compute(value);
  known[value] = places;
  return places;
}
