//===- AttentionGradients.cpp - Gradients of attention --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace smp;

LogicalResult AttentionOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  bool ofBias = getBias() && wanted[3];
  auto grad = b.create<AttentionGradOp>(
      cotangents[0], getQuery(), getKey(), getValue(), getResult(), getLse(),
      getBias(), getMaskAttr(), getScaleAttr(), getDropoutAttr(), getSiteAttr(),
      ofBias ? builder.getUnitAttr() : UnitAttr());
  for (unsigned i = 0; i < grad->getNumResults(); ++i)
    if (wanted[i])
      gradients[i] = grad->getResult(i);
  return success();
}

void AttentionOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  llvm::append_range(saved, getOperands());
  saved.append({getResult(), getLse()});
}

/// The two halves of the last dim of `operand`.
static std::pair<Value, Value> splitHalves(GradientBuilder &b, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t dim = type.getRank() - 1, extent = type.getDimSize(dim);
  return {b.create<SliceOp>(operand, dim, 0, extent / 2),
          b.create<SliceOp>(operand, dim, extent / 2, extent)};
}

LogicalResult
RotaryEmbeddingOp::buildGradient(OpBuilder &builder, ArrayRef<Value> cotangents,
                                 ArrayRef<bool> wanted,
                                 MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  // The inverse of a rotation is the rotation by the negated angle.
  if (wanted[0])
    gradients[0] = b.create<RotaryEmbeddingOp>(cotangents[0], getCosine(),
                                               b.neg(getSine()));
  if (!wanted[1] && !wanted[2])
    return success();
  auto [x1, x2] = splitHalves(b, getOperand());
  auto [c1, c2] = splitHalves(b, cotangents[0]);
  auto leading = llvm::to_vector(
      llvm::seq<int64_t>(0, getOperand().getType().getRank() - 2));
  if (wanted[1])
    gradients[1] = b.sum(b.add(b.mul(c1, x1), b.mul(c2, x2)), leading);
  if (wanted[2])
    gradients[2] = b.sum(b.sub(b.mul(c2, x1), b.mul(c1, x2)), leading);
  return success();
}

void RotaryEmbeddingOp::getSavedValues(ArrayRef<bool> wanted,
                                       SmallVectorImpl<Value> &saved) {
  if (wanted[0])
    saved.append({getCosine(), getSine()});
  if (wanted[1] || wanted[2])
    saved.push_back(getOperand());
}
