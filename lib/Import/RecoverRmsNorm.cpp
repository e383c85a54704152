//===- RecoverRmsNorm.cpp - Root-mean-square norms from their pieces ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: x · rsqrt(Σ x² / n + e), the sum over the last dim of size n, is
// rms_norm(x); and w · rms_norm(x), w along the last dim, is its weighted form.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// The operand of an expand that repeats along the last dim only, or null.
static Value repeatedAlongLastDim(Value value) {
  auto expand = value.getDefiningOp<ExpandOp>();
  if (!expand)
    return {};
  RankedTensorType from = typeOf(expand.getOperand()), to = expand.getType();
  bool sameRank = from.getRank() == to.getRank() && to.getRank() > 0;
  if (!sameRank || from.getShape().back() != 1 ||
      from.getShape().drop_back() != to.getShape().drop_back())
    return {};
  return expand.getOperand();
}

/// The operand of a sum over its last dim, divided by that dim's size.
static Value meanOperand(Value value) {
  double number = 1.0;
  Value sum;
  if (auto div = value.getDefiningOp<DivOp>()) {
    std::optional<double> divisor = uniformValue(div.getRhs());
    if (!divisor)
      return {};
    number = *divisor;
    sum = div.getLhs();
  } else if ((sum = splitUniform<MulOp>(value, number))) {
    number = 1.0 / number;
  } else {
    return {};
  }
  auto reduce = withoutUnitDim(sum).getDefiningOp<ReduceSumOp>();
  if (!reduce)
    return {};
  RankedTensorType type = typeOf(reduce.getOperand());
  if (reduce.getDims() != ArrayRef<int64_t>{type.getRank() - 1} ||
      number != double(type.getShape().back()))
    return {};
  return reduce.getOperand();
}

namespace {

struct RecoverRmsNorm : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      Value operand = op->getOperand(i);
      Value column = repeatedAlongLastDim(op->getOperand(1 - i));
      if (!column)
        continue;
      Value root = operandOf<RsqrtOp>(withoutUnitDim(column));
      double epsilon = 0.0;
      Value mean =
          root ? splitUniform<AddOp>(withoutUnitDim(root), epsilon) : Value();
      Value square = mean ? meanOperand(withoutUnitDim(mean)) : Value();
      if (!square || !isPower(square, operand, 2))
        continue;
      auto norm = createLike<RmsNormOp>(rewriter, op, operand, Value(),
                                        llvm::APFloat(epsilon));
      rewriter.replaceOp(op, norm.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no reciprocal root mean square");
  }
};

struct AddNormWeight : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto norm = op->getOperand(i).getDefiningOp<RmsNormOp>();
      auto expand = op->getOperand(1 - i).getDefiningOp<ExpandOp>();
      if (!norm || norm.getWeight() || !expand)
        continue;
      RankedTensorType weight = typeOf(expand.getOperand());
      int64_t last = expand.getType().getRank() - 1;
      if (weight.getRank() != 1 || expand.getDims() != ArrayRef{last} ||
          weight.getDimSize(0) != expand.getType().getDimSize(last) ||
          !norm.getRstd().use_empty())
        continue;
      auto weighted =
          createLike<RmsNormOp>(rewriter, op, norm.getOperand(),
                                expand.getOperand(), norm.getEpsilon());
      rewriter.replaceOp(op, weighted.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no rms norm without a weight");
  }
};

} // namespace

void smp::populateRmsNormPatterns(RewritePatternSet &patterns) {
  patterns.add<RecoverRmsNorm, AddNormWeight>(patterns.getContext());
}
