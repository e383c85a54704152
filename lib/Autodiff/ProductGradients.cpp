//===- ProductGradients.cpp - Gradients of matrix products ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

LogicalResult LinearOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] =
        b.create<LinearOp>(cotangents[0], getWeight(), !getTransposed());
  if (wanted[1])
    gradients[1] = b.create<LinearWeightGradOp>(cotangents[0], getInput(),
                                                getTransposed());
  return success();
}

void LinearOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {
  if (wanted[0])
    saved.push_back(getWeight());
  if (wanted[1])
    saved.push_back(getInput());
}

LogicalResult LinearWeightGradOp::buildGradient(
    OpBuilder &builder, ArrayRef<Value> cotangents, ArrayRef<bool> wanted,
    MutableArrayRef<Value> gradients) {
  // With G the cotangent, C^T X (or X^T C, when transposed) has the gradients
  // X G^T and C G (or X G and C G^T).
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] =
        b.create<LinearOp>(getInput(), cotangents[0], getTransposed());
  if (wanted[1])
    gradients[1] =
        b.create<LinearOp>(getCotangent(), cotangents[0], !getTransposed());
  return success();
}

void LinearWeightGradOp::getSavedValues(ArrayRef<bool> wanted,
                                        SmallVectorImpl<Value> &saved) {
  if (wanted[0])
    saved.push_back(getInput());
  if (wanted[1])
    saved.push_back(getCotangent());
}

LogicalResult BatchMatmulOp::buildGradient(OpBuilder &builder,
                                           ArrayRef<Value> cotangents,
                                           ArrayRef<bool> wanted,
                                           MutableArrayRef<Value> gradients) {
  // With G the cotangent: a plain A has the gradient G B^T, a transposed one
  // B G^T; a plain B has A^T G, a transposed one G^T A; where B and A stand for
  // the operands as they are multiplied.
  GradientBuilder b(builder, *this);
  bool lhsT = getTransposeLhs(), rhsT = getTransposeRhs();
  Value g = cotangents[0];
  if (wanted[0])
    gradients[0] = lhsT ? b.create<BatchMatmulOp>(getRhs(), g, rhsT, true)
                        : b.create<BatchMatmulOp>(g, getRhs(), false, !rhsT);
  if (wanted[1])
    gradients[1] = rhsT ? b.create<BatchMatmulOp>(g, getLhs(), true, lhsT)
                        : b.create<BatchMatmulOp>(getLhs(), g, !lhsT, false);
  return success();
}

void BatchMatmulOp::getSavedValues(ArrayRef<bool> wanted,
                                   SmallVectorImpl<Value> &saved) {
  if (wanted[0])
    saved.push_back(getRhs());
  if (wanted[1])
    saved.push_back(getLhs());
}
