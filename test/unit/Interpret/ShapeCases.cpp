//===- ShapeCases.cpp - Gradient tests of moves, reductions, indexing -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"
#include <algorithm>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// Random dims of a rank, ascending, each with probability one half.
static SmallVector<int64_t> someDims(GradientCase &c, int64_t rank) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (c.pick(0, 1))
      dims.push_back(dim);
  return dims;
}

/// New dims and repeated dims of size one.
static void expand(GradientCase &c) {
  Shape wide = c.shape(1, 4), narrow;
  SmallVector<int64_t> dims = someDims(c, wide.size());
  for (int64_t dim : dims)
    narrow.push_back(c.pick(0, 1) ? 1 : wide[dim]);
  Value operand = c.number(narrow);
  c.finish(c.create<ExpandOp>(c.floats(wide), operand, dims, ValueRange()));
}

static void reshape(GradientCase &c) {
  int64_t a = c.pick(1, 4), b = c.pick(1, 4), d = c.pick(1, 4);
  Value operand = c.number({a, b * d});
  c.finish(c.create<ReshapeOp>(c.floats({a * b, d}), operand, ValueRange()));
}

static void transpose(GradientCase &c) {
  Shape shape = c.shape(1, 4);
  SmallVector<int64_t> permutation(shape.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), c.random);
  c.finish(c.create<TransposeOp>(c.number(shape), permutation));
}

static void slice(GradientCase &c) {
  Shape shape = c.shape(1, 3);
  int64_t dim = c.pick(0, shape.size() - 1);
  shape[dim] = c.pick(3, 8);
  int64_t start = c.pick(0, shape[dim] - 1);
  int64_t stop = c.pick(start + 1, shape[dim]), step = c.pick(1, 3);
  c.finish(c.create<SliceOp>(c.number(shape), dim, start, stop, step));
}

static void pad(GradientCase &c) {
  Shape shape = c.shape(1, 3);
  int64_t dim = c.pick(0, shape.size() - 1);
  c.finish(c.create<PadOp>(c.number(shape), dim, c.pick(0, 2), c.pick(0, 2),
                           c.pick(0, 2), APFloat(0.5)));
}

static void concat(GradientCase &c) {
  Shape shape = c.shape(1, 3);
  int64_t dim = c.pick(0, shape.size() - 1);
  SmallVector<Value> operands;
  for (int64_t count = c.pick(1, 3); count > 0; --count) {
    shape[dim] = c.pick(1, 4);
    operands.push_back(c.number(shape));
  }
  c.finish(c.create<ConcatOp>(operands, dim));
}

template <typename OpTy> static void reduce(GradientCase &c) {
  Shape shape = c.shape(1, 4);
  SmallVector<int64_t> dims = someDims(c, shape.size());
  if (dims.empty())
    dims.push_back(0);
  c.finish(c.create<OpTy>(c.number(shape), dims));
}

static void cumsum(GradientCase &c) {
  Shape shape = c.shape(1, 3);
  int64_t dim = c.pick(0, shape.size() - 1);
  c.finish(c.create<CumsumOp>(c.number(shape), dim, c.pick(0, 1) == 1));
}

static void embedding(GradientCase &c) {
  int64_t rows = c.pick(1, 5);
  Value table = c.number({rows, c.pick(1, 4)});
  Value indices = c.indices(c.shape(1, 3), rows);
  c.finish(c.create<EmbeddingOp>(table, indices));
}

static void gather(GradientCase &c) {
  Shape shape = c.shape(1, 3);
  int64_t dim = c.pick(0, shape.size() - 1), extent = shape[dim];
  Value operand = c.number(shape);
  shape[dim] = c.pick(1, 5);
  c.finish(c.create<GatherOp>(operand, c.indices(shape, extent), dim));
}

ArrayRef<NamedCase> interpret::shapeCases() {
  static constexpr NamedCase cases[] = {
      {"smp.expand", expand},
      {"smp.reshape", reshape},
      {"smp.transpose", transpose},
      {"smp.slice", slice},
      {"smp.pad", pad},
      {"smp.concat", concat},
      {"smp.reduce_sum", reduce<ReduceSumOp>},
      {"smp.reduce_max", reduce<ReduceMaxOp>},
      {"smp.cumsum", cumsum},
      {"smp.embedding", embedding},
      {"smp.gather", gather},
  };
  return cases;
}
