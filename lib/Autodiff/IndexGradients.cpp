//===- IndexGradients.cpp - Gradients of choices by index ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

LogicalResult EmbeddingOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<EmbeddingGradOp>(cotangents[0], getIndices(),
                                           getTable().getType().getDimSize(0));
  return success();
}

void EmbeddingOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  saved.push_back(getIndices());
}

LogicalResult GatherOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] =
      b.create<GatherGradOp>(cotangents[0], getIndices(), getDim(),
                             getOperand().getType().getDimSize(getDim()));
  return success();
}

void GatherOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {
  saved.push_back(getIndices());
}
