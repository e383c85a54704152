//===- ConvolutionGradients.cpp - Gradients of convolutions ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

/// Height and width of images or kernels.
static ArrayRef<int64_t> sizeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().drop_front(2);
}

LogicalResult Conv2dOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] = b.create<Conv2dInputGradOp>(
        cotangents[0], getWeight(), sizeOf(getInput()), getStride(),
        getPadding(), getDilation(), getGroups());
  if (wanted[1])
    gradients[1] = b.create<Conv2dWeightGradOp>(
        cotangents[0], getInput(), sizeOf(getWeight()), getStride(),
        getPadding(), getDilation(), getGroups());
  if (getBias() && wanted[2])
    gradients[2] = b.sum(cotangents[0], {0, 2, 3});
  return success();
}

void Conv2dOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {
  if (wanted[0])
    saved.push_back(getWeight());
  if (wanted[1])
    saved.push_back(getInput());
}

LogicalResult MaxPool2dOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<MaxPool2dGradOp>(
      cotangents[0], getPlaces(), sizeOf(getOperand()), getKernel(),
      getStride(), getPadding(), getDilation());
  return success();
}

void MaxPool2dOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  saved.push_back(getPlaces());
}
