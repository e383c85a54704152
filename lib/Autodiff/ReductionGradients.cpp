//===- ReductionGradients.cpp - Gradients of reductions and running sums -===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

/// `reduced`, a reduction of `operand` over `dims`, in the operand's shape.
static Value expandReduced(GradientBuilder &b, Value reduced, Value operand,
                           ArrayRef<int64_t> dims) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  return b.expand(reduced, operand, complementDims(rank, dims));
}

LogicalResult ReduceSumOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = expandReduced(b, cotangents[0], getOperand(), getDims());
  return success();
}

void ReduceSumOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {}

LogicalResult ReduceMaxOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  // Equal maxima share the cotangent evenly, as PyTorch's amax has it.
  Value maxima = expandReduced(b, getResult(), getOperand(), getDims());
  Value chosen = b.compare(ComparePredicate::EQ, getOperand(), maxima);
  Value ones =
      b.select(chosen, b.fill(getOperand(), 1.0), b.fill(getOperand(), 0.0));
  Value share = b.div(cotangents[0], b.sum(ones, getDims()));
  gradients[0] = b.mul(ones, expandReduced(b, share, getOperand(), getDims()));
  return success();
}

void ReduceMaxOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  saved.append({getOperand(), getResult()});
}

LogicalResult CumsumOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<CumsumOp>(cotangents[0], getDim(), !getReverse());
  return success();
}

void CumsumOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {}
