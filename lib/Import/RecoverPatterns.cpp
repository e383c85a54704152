//===- RecoverPatterns.cpp - What composite patterns share ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"
#include <cmath>

using namespace mlir;
using namespace smp;

bool smp::isUniform(Value value, double number) {
  std::optional<double> found = uniformValue(value);
  return found && std::abs(*found - number) <= 1e-10 * std::abs(number);
}

static void collectFactors(Value value, Product &product, int depth) {
  if (std::optional<double> number = uniformValue(value)) {
    product.number *= *number;
    return;
  }
  auto op = value.getDefiningOp<MulOp>();
  // A product that others use too is a factor of its own, unless it only
  // scales.
  double number = 1.0;
  bool scales = op && splitUniform<MulOp>(value, number);
  if (!op || depth == 4 || (depth > 0 && !scales && !op->hasOneUse())) {
    product.factors.push_back(value);
    return;
  }
  collectFactors(op.getLhs(), product, depth + 1);
  collectFactors(op.getRhs(), product, depth + 1);
}

Product smp::factorsOf(Value value) {
  Product product;
  collectFactors(value, product, 0);
  return product;
}

bool smp::isPower(Value value, Value base, int exponent) {
  if (auto pow = value.getDefiningOp<PowOp>())
    return pow.getLhs() == base && isUniform(pow.getRhs(), exponent);
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul)
    return false;
  if (exponent == 2)
    return mul.getLhs() == base && mul.getRhs() == base;
  return (mul.getLhs() == base && isPower(mul.getRhs(), base, exponent - 1)) ||
         (mul.getRhs() == base && isPower(mul.getLhs(), base, exponent - 1));
}

Value smp::withoutUnitDim(Value value) {
  while (Value operand = operandOf<ReshapeOp>(value)) {
    ArrayRef<int64_t> from = typeOf(operand).getShape(),
                      to = typeOf(value).getShape();
    bool adds = !to.empty() && to.back() == 1 && to.drop_back() == from;
    bool drops = !from.empty() && from.back() == 1 && from.drop_back() == to;
    if (!adds && !drops)
      break;
    value = operand;
  }
  return value;
}
