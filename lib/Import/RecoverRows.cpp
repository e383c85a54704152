//===- RecoverRows.cpp - Linear layers on rows as they were ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: a linear, and the addition of a vector along the last dim, commute with
// a reshape that only splits rows. Such reshapes rise until they meet the one
// that merged the rows, and become one reshape with it, or none.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"

using namespace mlir;
using namespace smp;

/// Whether a reshape of [rows, C] splits the rows and keeps the last dim.
static bool splitsRows(ReshapeOp reshape) {
  ArrayRef<int64_t> from = typeOf(reshape.getOperand()).getShape(),
                    to = reshape.getType().getShape();
  return from.size() == 2 && to.size() > 2 && from.back() == to.back() &&
         !ShapedType::isDynamic(to.back());
}

namespace {

struct RiseAboveLinear : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto linear = op.getOperand().getDefiningOp<LinearOp>();
    if (!linear || !linear->hasOneUse() || !splitsRows(op))
      return rewriter.notifyMatchFailure(op, "no rows of a linear split");
    SmallVector<int64_t> shape(op.getType().getShape());
    shape.back() = typeOf(linear.getInput()).getShape().back();
    auto type = RankedTensorType::get(
        shape, typeOf(linear.getInput()).getElementType());
    auto rows = createLike<ReshapeOp>(rewriter, op, type, linear.getInput(),
                                      op.getSizes());
    auto split =
        createLike<LinearOp>(rewriter, linear, op.getType(), rows.getResult(),
                             linear.getWeight(), linear.getTransposed());
    rewriter.replaceOp(op, split.getResult());
    return success();
  }
};

struct RiseAboveBias : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto add = op.getOperand().getDefiningOp<AddOp>();
    if (!add || !add->hasOneUse() || !splitsRows(op))
      return rewriter.notifyMatchFailure(op, "no rows of a sum split");
    for (unsigned i : {0u, 1u}) {
      auto expand = add->getOperand(1 - i).getDefiningOp<ExpandOp>();
      if (!expand || typeOf(expand.getOperand()).getRank() != 1 ||
          expand.getDims() != ArrayRef<int64_t>{1})
        continue;
      RankedTensorType type = op.getType();
      auto rows = createLike<ReshapeOp>(rewriter, op, type, add->getOperand(i),
                                        op.getSizes());
      auto bias = createLike<ExpandOp>(
          rewriter, expand, type, expand.getOperand(),
          ArrayRef<int64_t>{type.getRank() - 1}, op.getSizes());
      auto sum = createLike<AddOp>(rewriter, add, type, rows.getResult(),
                                   bias.getResult());
      rewriter.replaceOp(op, sum.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no vector along the last dim");
  }
};

/// A reshape to the type it had: with one dynamic dim at most, equal types are
/// equal shapes, since the number of elements is the same.
struct DropUndoneReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getType() != op.getOperand().getType() ||
        op.getType().getNumDynamicDims() > 1)
      return rewriter.notifyMatchFailure(op, "changes the shape");
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

} // namespace

void smp::populateRowPatterns(RewritePatternSet &patterns) {
  patterns.add<RiseAboveLinear, RiseAboveBias, DropUndoneReshape>(
      patterns.getContext());
}
