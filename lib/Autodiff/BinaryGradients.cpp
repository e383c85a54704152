//===- BinaryGradients.cpp - Gradients of binary and ternary ops ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

LogicalResult AddOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  if (wanted[0])
    gradients[0] = cotangents[0];
  if (wanted[1])
    gradients[1] = cotangents[0];
  return success();
}

void AddOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {}

LogicalResult SubOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] = cotangents[0];
  if (wanted[1])
    gradients[1] = b.neg(cotangents[0]);
  return success();
}

void SubOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {}

LogicalResult MulOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] = b.mul(cotangents[0], getRhs());
  if (wanted[1])
    gradients[1] = b.mul(cotangents[0], getLhs());
  return success();
}

void MulOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  if (wanted[0])
    saved.push_back(getRhs());
  if (wanted[1])
    saved.push_back(getLhs());
}

LogicalResult DivOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] = b.div(cotangents[0], getRhs());
  if (wanted[1])
    gradients[1] = b.neg(b.mul(cotangents[0], b.div(getResult(), getRhs())));
  return success();
}

void DivOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.push_back(getRhs());
  if (wanted[1])
    saved.push_back(getResult());
}

/// The derivative of lhs^rhs by lhs. A constant exponent, the usual case, costs
/// no comparison; a square is a product.
static Value buildPowerRule(GradientBuilder &b, Value lhs, Value rhs) {
  if (auto constant = rhs.getDefiningOp<FillOp>()) {
    double exponent = constant.getValue().convertToDouble();
    if (exponent == 0.0)
      return b.fill(lhs, 0.0);
    if (exponent == 2.0)
      return b.scale(lhs, 2.0);
    return b.scale(b.create<PowOp>(lhs, b.fill(lhs, exponent - 1.0)), exponent);
  }
  // x^0 is constant, also at x = 0, where the formula is 0 * infinity.
  Value zero = b.fill(lhs, 0.0);
  Value power = b.create<PowOp>(lhs, b.sub(rhs, b.fill(rhs, 1.0)));
  return b.select(b.compare(ComparePredicate::EQ, rhs, zero), zero,
                  b.mul(rhs, power));
}

LogicalResult PowOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> cotangents,
                                   ArrayRef<bool> wanted,
                                   MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  if (wanted[0])
    gradients[0] = b.mul(cotangents[0], buildPowerRule(b, getLhs(), getRhs()));
  if (wanted[1]) {
    Value zero = b.fill(getLhs(), 0.0);
    // 0^y is constant for y > 0, where the formula is 0 * -infinity.
    Value flat =
        b.create<AndOp>(b.compare(ComparePredicate::EQ, getLhs(), zero),
                        b.compare(ComparePredicate::GE, getRhs(), zero));
    Value gradient =
        b.mul(cotangents[0], b.mul(getResult(), b.create<LogOp>(getLhs())));
    gradients[1] = b.select(flat, zero, gradient);
  }
  return success();
}

void PowOp::getSavedValues(ArrayRef<bool> wanted,
                           SmallVectorImpl<Value> &saved) {
  saved.append({getLhs(), getRhs()});
  if (wanted[1])
    saved.push_back(getResult());
}

/// Gradient of the larger (`loses` = LT) or smaller (`loses` = GT) of two
/// elements: half to each where they are equal, as in PyTorch.
static void buildExtremumGradient(GradientBuilder &b, ComparePredicate loses,
                                  Value lhs, Value rhs, Value cotangent,
                                  ArrayRef<bool> wanted,
                                  MutableArrayRef<Value> gradients) {
  Value zero = b.fill(cotangent, 0.0);
  Value shared = b.select(b.compare(ComparePredicate::EQ, lhs, rhs),
                          b.scale(cotangent, 0.5), cotangent);
  if (wanted[0])
    gradients[0] = b.select(b.compare(loses, lhs, rhs), zero, shared);
  if (wanted[1])
    gradients[1] = b.select(b.compare(loses, rhs, lhs), zero, shared);
}

LogicalResult MaximumOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  buildExtremumGradient(b, ComparePredicate::LT, getLhs(), getRhs(),
                        cotangents[0], wanted, gradients);
  return success();
}

void MaximumOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {
  saved.append({getLhs(), getRhs()});
}

LogicalResult MinimumOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  buildExtremumGradient(b, ComparePredicate::GT, getLhs(), getRhs(),
                        cotangents[0], wanted, gradients);
  return success();
}

void MinimumOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {
  saved.append({getLhs(), getRhs()});
}

LogicalResult SelectOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> cotangents,
                                      ArrayRef<bool> wanted,
                                      MutableArrayRef<Value> gradients) {
  GradientBuilder b(builder, *this);
  Value zero = b.fill(cotangents[0], 0.0);
  if (wanted[1])
    gradients[1] = b.select(getCondition(), cotangents[0], zero);
  if (wanted[2])
    gradients[2] = b.select(getCondition(), zero, cotangents[0]);
  return success();
}

void SelectOp::getSavedValues(ArrayRef<bool> wanted,
                              SmallVectorImpl<Value> &saved) {
  saved.push_back(getCondition());
}
