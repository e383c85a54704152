//===- ElementwiseOps.cpp - Inference and folds of elementwise ops -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"
#include "smp/IR/UniformValue.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/ElementwiseOps.cpp.inc"

void SmpDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ElementwiseOps.cpp.inc"
      >();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(tensorType(adaptor.getLhs()).getShape(),
                                        IntegerType::get(context, 1)));
  return success();
}

//===----------------------------------------------------------------------===//
// Folds: all keep every bit of the result
//===----------------------------------------------------------------------===//

/// Whether every element is this number, zeros of one sign apart from those of
/// the other.
static bool isNumber(Value value, double number) {
  std::optional<double> found = uniformValue(value);
  return found == number && std::signbit(*found) == std::signbit(number);
}

static bool isInteger(Value value) {
  return isa<IntegerType>(getElementTypeOrSelf(value));
}

/// The operand of an op of the same kind, such as x of neg(neg(x)).
template <typename Op> static Value operandOf(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op ? op.getOperand() : Value();
}

/// Computes with integer constants, which wrap around. Large ones that differ
/// from place to place are left to the kernels: the job would store them anew.
template <typename Combine>
static OpFoldResult foldIntegers(ArrayRef<Attribute> operands,
                                 Combine combine) {
  constexpr int64_t kMaximumElements = 1024;
  auto lhs = dyn_cast_or_null<DenseIntElementsAttr>(operands[0]);
  auto rhs = dyn_cast_or_null<DenseIntElementsAttr>(operands[1]);
  if (!lhs || !rhs)
    return {};
  if (lhs.isSplat() && rhs.isSplat())
    return Attribute(DenseElementsAttr::get(
        lhs.getType(),
        combine(lhs.getSplatValue<APInt>(), rhs.getSplatValue<APInt>())));
  if (lhs.getNumElements() > kMaximumElements)
    return {};
  SmallVector<APInt> elements;
  for (auto [a, b] : llvm::zip(lhs.getValues<APInt>(), rhs.getValues<APInt>()))
    elements.push_back(combine(a, b));
  return Attribute(DenseElementsAttr::get(lhs.getType(), elements));
}

OpFoldResult NegOp::fold(FoldAdaptor) { return operandOf<NegOp>(getOperand()); }

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (Value operand = operandOf<NotOp>(getOperand()))
    return operand;
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getOperand());
  if (!splat)
    return {};
  APInt complement = ~splat.getSplatValue<APInt>();
  return Attribute(DenseElementsAttr::get(splat.getType(), complement));
}

OpFoldResult StopGradientOp::fold(FoldAdaptor) {
  bool stopped = isa_and_nonnull<StopGradientOp>(getOperand().getDefiningOp());
  return stopped ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // -0 + 0 is 0: only the negative zero leaves every number as it is.
  double zero = isInteger(getResult()) ? 0.0 : -0.0;
  if (isNumber(getRhs(), zero))
    return getLhs();
  if (isNumber(getLhs(), zero))
    return getRhs();
  return foldIntegers(adaptor.getOperands(),
                      [](const APInt &a, const APInt &b) { return a + b; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isNumber(getRhs(), 0.0))
    return getLhs();
  return foldIntegers(adaptor.getOperands(),
                      [](const APInt &a, const APInt &b) { return a - b; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  for (auto [factor, other] :
       {std::pair(getRhs(), getLhs()), std::pair(getLhs(), getRhs())}) {
    if (isNumber(factor, 1.0))
      return other;
    // Not of floating numbers: 0 * -1 is -0, and 0 * infinity no number.
    if (isInteger(factor) && isNumber(factor, 0.0))
      return factor;
  }
  return foldIntegers(adaptor.getOperands(),
                      [](const APInt &a, const APInt &b) { return a * b; });
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  return isNumber(getRhs(), 1.0) ? OpFoldResult(getLhs()) : OpFoldResult();
}

OpFoldResult PowOp::fold(FoldAdaptor) {
  return isNumber(getRhs(), 1.0) ? OpFoldResult(getLhs()) : OpFoldResult();
}

/// Folds a conjunction or disjunction: `neutral` leaves the other operand as it
/// is, its complement is the result.
static OpFoldResult foldLogic(Value lhs, Value rhs, double neutral) {
  if (lhs == rhs)
    return lhs;
  for (auto [known, other] : {std::pair(rhs, lhs), std::pair(lhs, rhs)})
    if (std::optional<double> value = uniformValue(known))
      return value == neutral ? other : known;
  return {};
}

OpFoldResult AndOp::fold(FoldAdaptor) {
  return foldLogic(getLhs(), getRhs(), 1.0);
}

OpFoldResult OrOp::fold(FoldAdaptor) {
  return foldLogic(getLhs(), getRhs(), 0.0);
}

//===----------------------------------------------------------------------===//
// CastOp
//===----------------------------------------------------------------------===//

/// Whether every element of one type is one of the other.
static bool isLossless(Type from, Type to) {
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  unsigned width = from.getIntOrFloatBitWidth();
  if (!fromFloat && !toFloat)
    return width <= to.getIntOrFloatBitWidth();
  if (!toFloat)
    return false;
  // Integers of 32 bits and more have a sign.
  if (!fromFloat)
    return (width > 8 ? width - 1 : width) <= toFloat.getFPMantissaWidth();
  const llvm::fltSemantics &a = fromFloat.getFloatSemantics();
  const llvm::fltSemantics &b = toFloat.getFloatSemantics();
  return APFloat::semanticsPrecision(a) <= APFloat::semanticsPrecision(b) &&
         APFloat::semanticsMaxExponent(a) <= APFloat::semanticsMaxExponent(b) &&
         APFloat::semanticsMinExponent(a) >= APFloat::semanticsMinExponent(b);
}

/// The operand of a cast that loses nothing, or null.
static Value beforeLosslessCast(Value value) {
  Value operand = operandOf<CastOp>(value);
  bool lossless = operand && isLossless(getElementTypeOrSelf(operand),
                                        getElementTypeOrSelf(value));
  return lossless ? operand : Value();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  Value before = beforeLosslessCast(getOperand());
  return before && before.getType() == getType() ? OpFoldResult(before)
                                                 : OpFoldResult();
}

/// A cast through a type that holds all of the first one's elements. Between
/// floating types that must be so for the way back, too, which the gradient
/// takes: rounding twice is not rounding once.
LogicalResult CastOp::canonicalize(CastOp op, PatternRewriter &rewriter) {
  Value before = beforeLosslessCast(op.getOperand());
  if (!before)
    return rewriter.notifyMatchFailure(op, "no cast of a lossless cast");
  Type first = getElementTypeOrSelf(before);
  Type middle = getElementTypeOrSelf(op.getOperand());
  Type last = getElementTypeOrSelf(op.getResult());
  bool exact = isa<FloatType>(last)
                   ? !isa<FloatType>(first) || isLossless(last, middle)
                   : isa<FloatType>(first) == isa<FloatType>(middle);
  if (!exact)
    return rewriter.notifyMatchFailure(op, "a gradient that rounds twice");
  rewriter.modifyOpInPlace(op, [&] { op.getOperandMutable().assign(before); });
  return success();
}

//===----------------------------------------------------------------------===//
// SelectOp
//===----------------------------------------------------------------------===//

OpFoldResult SelectOp::fold(FoldAdaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  if (std::optional<double> condition = uniformValue(getCondition()))
    return *condition != 0.0 ? getOnTrue() : getOnFalse();
  return {};
}

LogicalResult SelectOp::canonicalize(SelectOp op, PatternRewriter &rewriter) {
  Value condition = operandOf<NotOp>(op.getCondition());
  if (!condition)
    return rewriter.notifyMatchFailure(op, "no negated condition");
  Value onTrue = op.getOnTrue(), onFalse = op.getOnFalse();
  rewriter.modifyOpInPlace(
      op, [&] { op->setOperands({condition, onFalse, onTrue}); });
  return success();
}
