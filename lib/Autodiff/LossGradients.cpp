//===- LossGradients.cpp - Gradients of losses ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

LogicalResult CrossEntropyOp::buildGradient(OpBuilder &builder,
                                            ArrayRef<Value> cotangents,
                                            ArrayRef<bool> wanted,
                                            MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<CrossEntropyGradOp>(
      cotangents[0], getLogits(), getLabels(), getLse(), getIgnoreIndexAttr());
  return success();
}

void CrossEntropyOp::getSavedValues(ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &saved) {
  saved.append({getLogits(), getLabels(), getLse()});
}

LogicalResult MeanLossOp::buildGradient(OpBuilder &builder,
                                        ArrayRef<Value> cotangents,
                                        ArrayRef<bool> wanted,
                                        MutableArrayRef<Value> gradients) {
  // Linear in the sum, and zero as the loss is where nothing counts.
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<MeanLossOp>(cotangents[0], getCount(), getTerm());
  return success();
}

void MeanLossOp::getSavedValues(ArrayRef<bool> wanted,
                                SmallVectorImpl<Value> &saved) {
  saved.push_back(getCount());
}
