//===- IndexSemantics.cpp - Elements chosen by integer tensors -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

/// Checks that all indices choose one of `extent` places.
static LogicalResult checkIndices(Operation *op, const Tensor &indices,
                                  int64_t extent) {
  for (int64_t index : indices.ints())
    if (index < 0 || index >= extent)
      return op->emitOpError("expects indices in [0, ")
             << extent << "), got " << index;
  return success();
}

static FailureOr<Tensor> evaluate(EmbeddingOp op, Operands in, Context &) {
  const Tensor &table = in[0], &indices = in[1];
  if (failed(checkIndices(op, indices, table.dim(0))))
    return failure();
  int64_t width = table.dim(1);
  Shape shape = indices.shape();
  shape.push_back(width);
  Tensor result(table.type(), shape);
  auto to = result.mutableFloats();
  for (int64_t place = 0; place < indices.size(); ++place)
    for (int64_t i = 0; i < width; ++i)
      to[place * width + i] = table.floats()[indices.ints()[place] * width + i];
  return result;
}

static FailureOr<Tensor> evaluate(EmbeddingGradOp op, Operands in, Context &) {
  const Tensor &cotangent = in[0], &indices = in[1];
  if (failed(checkIndices(op, indices, op.getRows())))
    return failure();
  int64_t width = cotangent.lastDim();
  Tensor result(cotangent.type(), {static_cast<int64_t>(op.getRows()), width});
  auto to = result.mutableFloats();
  for (int64_t place = 0; place < indices.size(); ++place)
    for (int64_t i = 0; i < width; ++i)
      to[indices.ints()[place] * width + i] +=
          cotangent.floats()[place * width + i];
  return result;
}

/// The element of a tensor with the given strides at `place`, where `dim` has
/// `index` instead.
static int64_t gathered(std::span<const int64_t> place, const Shape &strides,
                        int64_t dim, int64_t index) {
  int64_t element = std::inner_product(place.begin(), place.end(),
                                       strides.begin(), int64_t{0});
  return element + (index - place[dim]) * strides[dim];
}

static FailureOr<Tensor> evaluate(GatherOp op, Operands in, Context &) {
  const Tensor &operand = in[0], &indices = in[1];
  int64_t dim = op.getDim(), next = 0;
  if (failed(checkIndices(op, indices, operand.dim(dim))))
    return failure();
  Shape strides = stridesOf(operand.shape());
  return moveElements(operand, indices.shape(), [&](auto place) {
    return gathered(place, strides, dim, indices.ints()[next++]);
  });
}

static FailureOr<Tensor> evaluate(GatherGradOp op, Operands in, Context &) {
  const Tensor &cotangent = in[0], &indices = in[1];
  int64_t dim = op.getDim();
  if (failed(checkIndices(op, indices, op.getExtent())))
    return failure();
  Shape shape = cotangent.shape();
  shape[dim] = op.getExtent();
  Shape strides = stridesOf(shape);
  Tensor result(cotangent.type(), shape);
  auto to = result.mutableFloats();
  forEachPlace(indices.shape(), [&](auto place, int64_t element) {
    to[gathered(place, strides, dim, indices.ints()[element])] +=
        cotangent.floats()[element];
  });
  return result;
}

static FailureOr<Tensor> evaluate(IndexOp op, Operands in, Context &) {
  const Tensor &operand = in[0];
  Operands indices = in.drop_front();
  int64_t indexed = indices.size(), rank = indices.front().rank();
  for (auto [dim, tensor] : llvm::enumerate(indices))
    if (failed(checkIndices(op, tensor, operand.dim(dim))))
      return failure();
  Shape shape = indices.front().shape();
  shape.insert(shape.end(), operand.shape().begin() + indexed,
               operand.shape().end());
  Shape strides = stridesOf(operand.shape());
  Shape indexStrides = stridesOf(indices.front().shape());
  return moveElements(operand, shape, [&](auto place) {
    int64_t at = std::inner_product(indexStrides.begin(), indexStrides.end(),
                                    place.begin(), int64_t{0});
    int64_t element = 0;
    for (int64_t dim = 0; dim < operand.rank(); ++dim)
      element += strides[dim] * (dim < indexed ? indices[dim].ints()[at]
                                               : place[rank + dim - indexed]);
    return element;
  });
}

void attachIndexSemantics(MLIRContext *context) {
  attach<EmbeddingOp, EmbeddingGradOp, GatherOp, GatherGradOp, IndexOp>(
      context);
}

} // namespace smp::interpret
