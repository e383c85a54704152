//===- RecoverGelu.cpp - The tanh form of gelu from its pieces ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: 0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) is gelu's tanh form,
// in whatever order the products are written.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace smp;

static bool isClose(double a, double b) {
  return std::abs(a - b) <= 1e-10 * std::abs(b);
}

/// The `x` of x + 0.044715 · x³, or null.
static Value cubicOperand(Value value) {
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return {};
  for (unsigned i : {0u, 1u}) {
    Value x = add->getOperand(i), term = add->getOperand(1 - i);
    double number = 0.0;
    Value cube = splitUniform<MulOp>(term, number);
    if (cube && isClose(number, 0.044715) && isPower(cube, x, 3))
      return x;
  }
  return {};
}

/// The `x` of 1 + tanh(√(2/π) · (x + 0.044715 · x³)), or null.
static Value gateOperand(Value value) {
  double one = 0.0;
  Value tanh = operandOf<TanhOp>(splitUniform<AddOp>(value, one));
  if (!tanh || one != 1.0)
    return {};
  Product argument = factorsOf(tanh);
  double scale = std::sqrt(2.0 / std::numbers::pi);
  if (argument.factors.size() != 1 || !isClose(argument.number, scale))
    return {};
  return cubicOperand(argument.factors.front());
}

namespace {

struct RecoverGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    Product product = factorsOf(op.getResult());
    if (product.factors.size() != 2 || !isClose(product.number, 0.5))
      return rewriter.notifyMatchFailure(op, "not half of a product of two");
    for (unsigned i : {0u, 1u}) {
      Value x = product.factors[i];
      if (gateOperand(product.factors[1 - i]) != x)
        continue;
      auto gelu = createLike<GeluOp>(rewriter, op, x.getType(), x,
                                     GeluApproximation::Tanh);
      rewriter.replaceOp(op, gelu.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no gate of gelu");
  }
};

} // namespace

void smp::populateGeluPatterns(RewritePatternSet &patterns) {
  patterns.add<RecoverGelu>(patterns.getContext());
}
