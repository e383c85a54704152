//===- ShapeGradients.cpp - Gradients of moves of elements ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

LogicalResult ExpandOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  // Every repeated element gets the sum of its copies' cotangents: over the
  // new dims, and over those that had size one.
  SmallVector<int64_t> kept;
  for (auto [dim, place] : llvm::enumerate(getDims()))
    if (from.getDimSize(dim) != 1 || to.getDimSize(place) == 1)
      kept.push_back(place);
  Value sum = b.sum(cotangents[0], complementDims(to.getRank(), kept));
  gradients[0] = b.reshape(sum, getOperand());
  return success();
}

void ExpandOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {}

LogicalResult ReshapeOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.reshape(cotangents[0], getOperand());
  return success();
}

void ReshapeOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {}

LogicalResult TransposeOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [place, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = place;
  gradients[0] = b.create<TransposeOp>(cotangents[0], inverse);
  return success();
}

void TransposeOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {}

LogicalResult SliceOp::buildGradient(OpBuilder &builder,
                                     ArrayRef<Value> cotangents,
                                     ArrayRef<bool> wanted,
                                     MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  int64_t dim = getDim();
  int64_t extent =
      cast<RankedTensorType>(getOperand().getType()).getDimSize(dim);
  int64_t taken = cast<RankedTensorType>(getResult().getType()).getDimSize(dim);
  if (taken == 0) {
    gradients[0] = b.fill(getOperand(), 0.0);
    return success();
  }
  int64_t step = getStep();
  int64_t after = extent - getStart() - ((taken - 1) * step + 1);
  gradients[0] = b.create<PadOp>(cotangents[0], dim, getStart(), after,
                                 step - 1, llvm::APFloat(0.0));
  return success();
}

void SliceOp::getSavedValues(ArrayRef<bool> wanted,
                             SmallVectorImpl<Value> &saved) {}

LogicalResult PadOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  int64_t dim = getDim();
  int64_t extent =
      cast<RankedTensorType>(getOperand().getType()).getDimSize(dim);
  if (extent == 0) {
    gradients[0] = b.fill(getOperand(), 0.0);
    return success();
  }
  int64_t step = getInterior() + 1;
  int64_t stop = getLow() + (extent - 1) * step + 1;
  gradients[0] = b.create<SliceOp>(cotangents[0], dim, getLow(), stop, step);
  return success();
}

void PadOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {}

LogicalResult ConcatOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  int64_t start = 0;
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    int64_t extent =
        cast<RankedTensorType>(operand.getType()).getDimSize(getDim());
    if (wanted[i])
      gradients[i] =
          b.create<SliceOp>(cotangents[0], getDim(), start, start + extent);
    start += extent;
  }
  return success();
}

void ConcatOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {}
