//===- NormGradients.cpp - Gradients of normalisations -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AffineNorm.h"

using namespace mlir;
using namespace smp;

LogicalResult LayerNormOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  buildAffineNormGradient<LayerNormGradOp>(*this, builder, cotangents, wanted,
                                           gradients);
  return success();
}

void LayerNormOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  addSavedValuesOfNorm(*this, saved);
}

LogicalResult RmsNormOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  auto grad = b.create<RmsNormGradOp>(cotangents[0], getOperand(), getWeight(),
                                      getRstd());
  if (wanted[0])
    gradients[0] = grad.getOperandGrad();
  if (getWeight() && wanted[1])
    gradients[1] = grad.getWeightGrad();
  return success();
}

void RmsNormOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
  if (getWeight())
    saved.push_back(getWeight());
  saved.push_back(getRstd());
}

LogicalResult SoftmaxOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<SoftmaxGradOp>(cotangents[0], getResult());
  return success();
}

void SoftmaxOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}
