//===- BatchNormGradients.cpp - Gradients of batch norms ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AffineNorm.h"

using namespace mlir;
using namespace smp;

LogicalResult BatchNormOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  buildAffineNormGradient<BatchNormGradOp>(*this, builder, cotangents, wanted,
                                           gradients);
  return success();
}

void BatchNormOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  addSavedValuesOfNorm(*this, saved);
}

/// A frozen norm is affine in its operand: y = (x - mean) scale weight + bias.
LogicalResult BatchNormInferenceOp::buildGradient(
    OpBuilder &builder, ArrayRef<Value> cotangents, ArrayRef<bool> wanted,
    MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  Value x = getOperand(), variance = getRunningVariance();
  Value shifted =
      b.add(variance, b.fill(variance, getEpsilon().convertToDouble()));
  Value scale =
      b.div(b.fill(variance, 1.0), b.create<SqrtOp>(shifted).getResult());
  SmallVector<int64_t> others =
      complementDims(cast<RankedTensorType>(x.getType()).getRank(), {1});
  unsigned next = 0;
  if (wanted[next]) {
    Value slope = getWeight() ? b.mul(scale, getWeight()) : scale;
    gradients[next] = b.mul(cotangents[0], b.expand(slope, x, {1}));
  }
  if (getWeight() && wanted[++next]) {
    Value centered = b.sub(x, b.expand(getRunningMean(), x, {1}));
    Value sum = b.sum(b.mul(cotangents[0], centered), others);
    gradients[next] = b.mul(sum, scale);
  }
  if (getBias() && wanted[++next])
    gradients[next] = b.sum(cotangents[0], others);
  // The running averages are state: nothing trains them.
  if (llvm::is_contained(wanted.take_back(2), true))
    return emitError("expects running averages that no parameter reaches, got "
                     "some that one does");
  return success();
}

void BatchNormInferenceOp::getSavedValues(ArrayRef<bool> wanted,
                                          SmallVectorImpl<Value> &saved) {
  if (wanted[0] && getWeight())
    saved.push_back(getWeight());
  bool weight = getWeight() && wanted[1];
  if (weight)
    saved.append({getOperand(), getRunningMean()});
  if (weight || wanted[0])
    saved.push_back(getRunningVariance());
}
