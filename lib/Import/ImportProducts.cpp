//===- ImportProducts.cpp - Import of matrix products ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"

using namespace mlir;
using namespace smp;

/// [..., K] with [N, K], or [K, N] if `transposed`.
static Tensor linear(NodeImporter &n, const Tensor &input, const Tensor &weight,
                     bool transposed) {
  Shape shape = input.shape;
  shape.back() = weight.shape[transposed ? 1 : 0];
  return {LinearOp::create(n.builder, n.loc, tensorType(input.element(), shape),
                           input.value, weight.value, transposed),
          shape};
}

static LogicalResult importLinear(NodeImporter &n) {
  Tensor input = n.tensor("input"), weight = n.tensor("weight");
  if (input.rank() < 1 || weight.rank() != 2)
    return n.refuse("with a weight of rank " + Twine(weight.rank()));
  Tensor result = linear(n, input, weight, /*transposed=*/false);
  if (Tensor bias = n.optionalTensor("bias"))
    result = n.binary<AddOp>(result, n.broadcast(bias, result.shape));
  if (n.refused())
    return failure();
  return n.give(result);
}

/// beta · self + alpha · product.
static LogicalResult giveSum(NodeImporter &n, Tensor product) {
  Tensor self = n.broadcast(n.tensor("self"), product.shape);
  Type element = product.element();
  if (double alpha = n.number("alpha", 1.0); alpha != 1.0)
    product = n.binary<MulOp>(product, n.fill(alpha, element, product.shape));
  if (double beta = n.number("beta", 1.0); beta != 1.0)
    self = n.binary<MulOp>(self, n.fill(beta, element, product.shape));
  if (n.refused())
    return failure();
  return n.give(n.binary<AddOp>(product, self));
}

/// beta · self + alpha · mat1 · mat2.
static LogicalResult importAddmm(NodeImporter &n) {
  Tensor lhs = n.tensor("mat1"), rhs = n.tensor("mat2");
  if (lhs.rank() != 2 || rhs.rank() != 2)
    return n.refuse("of tensors that are no matrices");
  Tensor product = linear(n, lhs, rhs, /*transposed=*/true);
  return giveSum(n, product);
}

static LogicalResult importMm(NodeImporter &n) {
  Tensor lhs = n.tensor("self"), rhs = n.tensor("mat2");
  if (lhs.rank() != 2 || rhs.rank() != 2)
    return n.refuse("of tensors that are no matrices");
  return n.give(linear(n, lhs, rhs, /*transposed=*/true));
}

Tensor smp::matrixProduct(NodeImporter &n, const Tensor &lhs,
                          const Tensor &rhs) {
  return linear(n, lhs, rhs, /*transposed=*/true);
}

Tensor smp::batchMatmul(NodeImporter &n, const Tensor &lhs, const Tensor &rhs) {
  Shape shape = lhs.shape;
  shape.back() = rhs.shape.back();
  return {BatchMatmulOp::create(n.builder, n.loc,
                                tensorType(lhs.element(), shape), lhs.value,
                                rhs.value, /*transpose_lhs=*/false,
                                /*transpose_rhs=*/false),
          shape};
}

static LogicalResult importBmm(NodeImporter &n) {
  Tensor lhs = n.tensor("self"), rhs = n.tensor("mat2");
  if (lhs.rank() != 3 || rhs.rank() != 3)
    return n.refuse("of tensors that are no batches of matrices");
  return n.give(batchMatmul(n, lhs, rhs));
}

/// beta · self + alpha · batch1 · batch2.
static LogicalResult importBaddbmm(NodeImporter &n) {
  Tensor lhs = n.tensor("batch1"), rhs = n.tensor("batch2");
  if (lhs.rank() != 3 || rhs.rank() != 3)
    return n.refuse("of tensors that are no batches of matrices");
  Tensor product = batchMatmul(n, lhs, rhs);
  return giveSum(n, product);
}

/// The leading dims of a matmul's result with the operand's own last two.
static Shape batched(const Shape &result, const Tensor &operand) {
  Shape shape(result.begin(), result.end() - 2);
  shape.insert(shape.end(), operand.shape.end() - 2, operand.shape.end());
  return shape;
}

static LogicalResult importMatmul(NodeImporter &n) {
  Tensor lhs = n.tensor("self"), rhs = n.tensor("other");
  if (lhs.rank() >= 1 && rhs.rank() == 2)
    return n.give(linear(n, lhs, rhs, /*transposed=*/true));
  if (lhs.rank() < 2 || rhs.rank() < 2 || n.resultShape().size() < 2)
    return n.refuse("with a vector");
  lhs = n.broadcast(lhs, batched(n.resultShape(), lhs));
  rhs = n.broadcast(rhs, batched(n.resultShape(), rhs));
  if (n.refused())
    return failure();
  return n.give(batchMatmul(n, lhs, rhs));
}

ArrayRef<ImportRule> smp::productRules() {
  static const ImportRule rules[] = {
      {"aten.linear.default", importLinear, "input weight"},
      {"aten.addmm.default", importAddmm, "self mat1 mat2"},
      {"aten.mm.default", importMm, "self mat2"},
      {"aten.bmm.default", importBmm, "self mat2"},
      {"aten.baddbmm.default", importBaddbmm, "self batch1 batch2"},
      {"aten.matmul.default", importMatmul, "self other"},
  };
  return rules;
}
