//===- ProductSemantics.cpp - Matrix products ----------------------------===//
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

/// A matrix somewhere in a tensor, possibly read transposed.
struct Matrix {
  const double *elements;
  int64_t rowStride, columnStride;
  double at(int64_t row, int64_t column) const {
    return elements[row * rowStride + column * columnStride];
  }
};

static Matrix matrix(const double *elements, int64_t columns, bool transposed) {
  return transposed ? Matrix{elements, 1, columns}
                    : Matrix{elements, columns, 1};
}

/// result[m, n] = sum over k, in ascending order, of lhs[m, k] * rhs[k, n].
static void multiply(Matrix lhs, Matrix rhs, double *result, int64_t m,
                     int64_t n, int64_t k) {
  std::fill(result, result + m * n, 0.0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      double factor = lhs.at(i, l);
      for (int64_t j = 0; j < n; ++j)
        result[i * n + j] += factor * rhs.at(l, j);
    }
}

static Tensor evaluate(LinearOp op, Operands in, Context &) {
  const Tensor &input = in[0], &weight = in[1];
  int64_t k = weight.dim(op.getTransposed() ? 0 : 1);
  int64_t n = weight.dim(op.getTransposed() ? 1 : 0);
  Shape shape = input.shape();
  shape.back() = n;
  Tensor result(input.type(), shape);
  multiply(matrix(input.floats().data(), k, false),
           matrix(weight.floats().data(), weight.dim(1), !op.getTransposed()),
           result.mutableFloats().data(), input.rows(), n, k);
  return result;
}

static Tensor evaluate(LinearWeightGradOp op, Operands in, Context &) {
  const Tensor &cotangent = in[0], &input = in[1];
  int64_t n = cotangent.lastDim(), k = input.lastDim();
  Matrix rows = matrix(cotangent.floats().data(), n, false);
  Matrix columns = matrix(input.floats().data(), k, false);
  int64_t height = n, width = k;
  if (op.getTransposed()) {
    std::swap(rows, columns);
    std::swap(height, width);
  }
  std::swap(rows.rowStride, rows.columnStride);
  Tensor result(input.type(), {height, width});
  multiply(rows, columns, result.mutableFloats().data(), height, width,
           input.rows());
  return result;
}

static Tensor evaluate(BatchMatmulOp op, Operands in, Context &) {
  const Tensor &lhs = in[0], &rhs = in[1];
  int64_t rank = lhs.rank();
  bool transposeLhs = op.getTransposeLhs(), transposeRhs = op.getTransposeRhs();
  int64_t m = lhs.dim(rank - (transposeLhs ? 1 : 2));
  int64_t k = lhs.dim(rank - (transposeLhs ? 2 : 1));
  int64_t n = rhs.dim(rank - (transposeRhs ? 2 : 1));
  Shape shape = lhs.shape();
  shape[rank - 2] = m;
  shape[rank - 1] = n;
  Tensor result(lhs.type(), shape);
  double *out = result.mutableFloats().data();
  int64_t batches = elementsOf(std::span(shape).first(rank - 2));
  for (int64_t batch = 0; batch < batches; ++batch)
    multiply(matrix(lhs.floats().data() + batch * m * k, lhs.lastDim(),
                    transposeLhs),
             matrix(rhs.floats().data() + batch * k * n, rhs.lastDim(),
                    transposeRhs),
             out + batch * m * n, m, n, k);
  return result;
}

void attachProductSemantics(MLIRContext *context) {
  attach<LinearOp, LinearWeightGradOp, BatchMatmulOp>(context);
}

} // namespace smp::interpret
