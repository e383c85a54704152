//===- RecoverArithmetic.cpp - Powers as products
//--------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Laws, exact in floating point: x² = x · x and x³ = x · x · x, as PyTorch
// computes them; √x for the power of a half.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"

using namespace mlir;
using namespace smp;

namespace {

struct ExpandPower : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PowOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<double> exponent = uniformValue(op.getRhs());
    Value base = op.getLhs(), result;
    auto times = [&](Value a, Value b) -> Value {
      return createLike<MulOp>(rewriter, op, op.getType(), a, b);
    };
    if (exponent == 2.0)
      result = times(base, base);
    else if (exponent == 3.0)
      result = times(times(base, base), base);
    else if (exponent == 0.5)
      result = createLike<SqrtOp>(rewriter, op, op.getType(), base);
    else
      return rewriter.notifyMatchFailure(op, "no power of 2, 3 or a half");
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void smp::populateArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandPower>(patterns.getContext());
}
