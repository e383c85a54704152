//===- ReductionSemantics.cpp - Sums, maxima and running sums ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

/// Combines the elements over `dims` in row-major order, starting from
/// `initial`, which both element kinds must be able to hold.
template <typename Combine>
static Tensor reduce(const Tensor &operand, ArrayRef<int64_t> dims,
                     auto initial, Combine combine) {
  Shape shape;
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (!llvm::is_contained(dims, dim)) {
      kept.push_back(dim);
      shape.push_back(operand.dim(dim));
    }
  Shape strides = stridesOf(shape);
  Tensor result(operand.type(), shape);
  auto run = [&](auto from, auto to) {
    std::ranges::fill(to, initial(to.front()));
    forEachPlace(operand.shape(), [&](auto place, int64_t element) {
      int64_t at = 0;
      for (auto [stride, dim] : llvm::zip_equal(strides, kept))
        at += stride * place[dim];
      to[at] = combine(to[at], from[element]);
    });
  };
  if (result.size() == 0)
    return result;
  if (operand.isFloat())
    run(operand.floats(), result.mutableFloats());
  else
    run(operand.ints(), result.mutableInts());
  return result;
}

static Tensor evaluate(ReduceSumOp op, Operands in, Context &) {
  return reduce(
      in[0], op.getDims(), [](auto kind) { return decltype(kind){0}; },
      [](auto sum, auto element) { return sum + element; });
}

static Tensor evaluate(ReduceMaxOp op, Operands in, Context &) {
  return reduce(
      in[0], op.getDims(),
      [](auto kind) {
        using Limits = std::numeric_limits<decltype(kind)>;
        return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      },
      [](auto largest, auto element) {
        return element > largest || element != element ? element : largest;
      });
}

static Tensor evaluate(CumsumOp op, Operands in, Context &) {
  Tensor result = in[0];
  int64_t dim = op.getDim(), extent = result.dim(dim);
  int64_t stride = stridesOf(result.shape())[dim];
  auto run = [&](auto elements) {
    forEachPlace(result.shape(), [&](auto place, int64_t element) {
      // Row-major order visits the places along `dim` in ascending order.
      if (place[dim] == 0)
        return;
      int64_t last = element + (extent - 1 - 2 * place[dim]) * stride;
      int64_t at = op.getReverse() ? last : element;
      elements[at] += elements[op.getReverse() ? at + stride : at - stride];
    });
  };
  if (result.isFloat())
    run(result.mutableFloats());
  else
    run(result.mutableInts());
  return result;
}

void attachReductionSemantics(MLIRContext *context) {
  attach<ReduceSumOp, ReduceMaxOp, CumsumOp>(context);
}

} // namespace smp::interpret
