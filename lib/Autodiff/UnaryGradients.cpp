//===- UnaryGradients.cpp - Gradients of unary elementwise ops ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

LogicalResult NegOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.neg(cotangents[0]);
  return success();
}

void NegOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {}

LogicalResult AbsOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  // The sign of zero is zero, as in PyTorch.
  Value zero = b.fill(getOperand(), 0.0);
  Value negative = b.select(b.compare(ComparePredicate::LT, getOperand(), zero),
                            b.neg(cotangents[0]), zero);
  gradients[0] = b.select(b.compare(ComparePredicate::GT, getOperand(), zero),
                          cotangents[0], negative);
  return success();
}

void AbsOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
}

LogicalResult ExpOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.mul(cotangents[0], getResult());
  return success();
}

void ExpOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}

LogicalResult LogOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.div(cotangents[0], getOperand());
  return success();
}

void LogOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
}

LogicalResult SqrtOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> cotangents,
                                    ArrayRef<bool> wanted,
                                    MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.div(cotangents[0], b.scale(getResult(), 2.0));
  return success();
}

void SqrtOp::getSavedValues(ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}

LogicalResult RsqrtOp::buildGradient(OpBuilder &builder,
                                     ArrayRef<Value> cotangents,
                                     ArrayRef<bool> wanted,
                                     MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  Value cube = b.mul(b.mul(getResult(), getResult()), getResult());
  gradients[0] = b.mul(b.scale(cotangents[0], -0.5), cube);
  return success();
}

void RsqrtOp::getSavedValues(ArrayRef<bool> wanted,
                             SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}

LogicalResult SinOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.mul(cotangents[0], b.create<CosOp>(getOperand()));
  return success();
}

void SinOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
}

LogicalResult CosOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.neg(b.mul(cotangents[0], b.create<SinOp>(getOperand())));
  return success();
}

void CosOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
}

LogicalResult TanhOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> cotangents,
                                    ArrayRef<bool> wanted,
                                    MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.mul(cotangents[0], b.sub(b.fill(getResult(), 1.0),
                                            b.mul(getResult(), getResult())));
  return success();
}

void TanhOp::getSavedValues(ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}

LogicalResult SigmoidOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] =
      b.mul(cotangents[0],
            b.mul(getResult(), b.sub(b.fill(getResult(), 1.0), getResult())));
  return success();
}

void SigmoidOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}

LogicalResult ReluOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> cotangents,
                                    ArrayRef<bool> wanted,
                                    MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  Value zero = b.fill(getResult(), 0.0);
  gradients[0] = b.select(b.compare(ComparePredicate::GT, getResult(), zero),
                          cotangents[0], zero);
  return success();
}

void ReluOp::getSavedValues(ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &saved) {
  saved.push_back(getResult());
}

LogicalResult SiluOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> cotangents,
                                    ArrayRef<bool> wanted,
                                    MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<SiluGradOp>(getOperand(), cotangents[0]);
  return success();
}

void SiluOp::getSavedValues(ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
}

LogicalResult GeluOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> cotangents,
                                    ArrayRef<bool> wanted,
                                    MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  gradients[0] =
      b.create<GeluGradOp>(getOperand(), cotangents[0], getApproximate());
  return success();
}

void GeluOp::getSavedValues(ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &saved) {
  saved.push_back(getOperand());
}

LogicalResult CastOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> cotangents,
                                    ArrayRef<bool> wanted,
                                    MutableArrayRef<Value> gradients) {
  // A cotangent lives in the type of its value; integers have none.
  if (!isa<FloatType>(getOperand().getType().getElementType()))
    return success();
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<CastOp>(getOperand().getType(), cotangents[0]);
  return success();
}

void CastOp::getSavedValues(ArrayRef<bool> wanted,
                            SmallVectorImpl<Value> &saved) {}

bool StopGradientOp::stopsGradient() { return true; }

LogicalResult StopGradientOp::buildGradient(OpBuilder &builder,
                                            ArrayRef<Value> cotangents,
                                            ArrayRef<bool> wanted,
                                            MutableArrayRef<Value> gradients) {
  // Leaves the gradient null: that is what the op is for.
  return success();
}

void StopGradientOp::getSavedValues(ArrayRef<bool> wanted,
                                    SmallVectorImpl<Value> &saved) {}
