//===- RecoverGroupedAttention.cpp - Grouped queries from repeated keys ---===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: attention on keys and values whose heads are each repeated n times in
// place is attention of groups of n query heads on the heads themselves.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"

using namespace mlir;
using namespace smp;

/// The [B, G, T, D] of [B, G, 1, T, D] repeated to [B, G, n, T, D] and taken
/// as [B, G · n, T, D]; else null.
static Value repeatedHeads(Value value) {
  auto flatten = value.getDefiningOp<ReshapeOp>();
  auto expand =
      flatten ? flatten.getOperand().getDefiningOp<ExpandOp>() : ExpandOp();
  auto insert =
      expand ? expand.getOperand().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!insert)
    return {};
  ArrayRef<int64_t> heads = typeOf(insert.getOperand()).getShape(),
                    unit = insert.getType().getShape(),
                    full = expand.getType().getShape(),
                    flat = flatten.getType().getShape();
  if (heads.size() != 4 || unit.size() != 5 || full.size() != 5 ||
      flat.size() != 4 || unit[2] != 1 || full[2] < 1 || heads[1] < 1)
    return {};
  // Batch, heads, keys and head size stay; only dim 2 is repeated.
  bool inserted = unit[0] == heads[0] && unit[1] == heads[1] &&
                  unit[3] == heads[2] && unit[4] == heads[3];
  bool repeated = full[0] == unit[0] && full[1] == unit[1] &&
                  full[3] == unit[3] && full[4] == unit[4];
  bool flattened = flat[0] == heads[0] && flat[1] == heads[1] * full[2] &&
                   flat[2] == heads[2] && flat[3] == heads[3];
  return inserted && repeated && flattened ? insert.getOperand() : Value();
}

namespace {

struct RecoverGroups : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Value key = repeatedHeads(op.getKey()),
          value = repeatedHeads(op.getValue());
    if (!key || !value ||
        typeOf(key).getDimSize(1) != typeOf(value).getDimSize(1))
      return rewriter.notifyMatchFailure(op, "no repeated keys and values");
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().assign(key);
      op.getValueMutable().assign(value);
    });
    return success();
  }
};

} // namespace

void smp::populateGroupedAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<RecoverGroups>(patterns.getContext());
}
