//===- UniformValue.cpp - Tensors of one number ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/IR/UniformValue.h"

#include "smp/IR/SmpDialect.h"

using namespace mlir;
using namespace smp;

static std::optional<double> asDouble(APFloat number) {
  bool inexact = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  if (inexact)
    return std::nullopt;
  return number.convertToDouble();
}

static std::optional<double> asDouble(const APInt &number) {
  // Elements of i1 and i8 are unsigned.
  int64_t integer = number.getBitWidth() <= 8 ? int64_t(number.getZExtValue())
                                              : number.getSExtValue();
  auto result = static_cast<double>(integer);
  if (result >= 0x1p63 || static_cast<int64_t>(result) != integer)
    return std::nullopt;
  return result;
}

/// Of a sum over integers.
static std::optional<double> uniformSum(ReduceSumOp sum) {
  auto operand = cast<RankedTensorType>(sum.getOperand().getType());
  RankedTensorType result = sum.getType();
  std::optional<double> term = uniformValue(sum.getOperand());
  if (!term || !result.getElementType().isInteger(64) ||
      !operand.hasStaticShape() || result.getNumElements() == 0)
    return std::nullopt;
  int64_t count = operand.getNumElements() / result.getNumElements();
  double value = *term * static_cast<double>(count);
  return std::abs(value) < 0x1p53 ? std::optional(value) : std::nullopt;
}

std::optional<double> smp::uniformValue(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ExpandOp, ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (auto fill = value.getDefiningOp<FillOp>())
    return fill.getValue().convertToDouble();
  if (auto sum = value.getDefiningOp<ReduceSumOp>())
    return uniformSum(sum);
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>()))
    return asDouble(number.getValue());
  return asDouble(splat.getSplatValue<APInt>());
}
