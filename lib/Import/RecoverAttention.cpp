//===- RecoverAttention.cpp - Attention from its products -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: dropout(softmax(q kᵀ · scale + bias)) v is attention. A bias may be what
// is added, several terms as well, or a choice between the scores and a number
// so low that its exponential is zero; then its condition is the mask.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

/// The parts of an attention that was taken apart.
struct Parts {
  Value query, key;
  /// A mask, or what is added to the scores in turn.
  SmallVector<Value> biases;
  double scale = 1.0, dropout = 0.0;
  int64_t site = 0;
};

/// More terms than any model adds to its scores; bounds the search.
constexpr unsigned kMaxTerms = 4;

/// What replaces a score that must not count: exp of it is zero in f32.
constexpr double kNever = -1e30;

/// `value` without an expand that only repeats, so that it broadcasts.
Value withoutRepeats(Value value) {
  auto expand = value.getDefiningOp<ExpandOp>();
  if (!expand || typeOf(expand.getOperand()).getRank() != 4)
    return value;
  return expand.getOperand();
}

/// Takes `select` of scores and a number that never counts apart.
Value matchSelect(Value scores, Value &mask) {
  auto select = scores.getDefiningOp<SelectOp>();
  if (!select)
    return {};
  std::optional<double> low = uniformValue(select.getOnFalse());
  if (!low || *low > kNever)
    return {};
  mask = withoutRepeats(select.getCondition());
  return select.getOnTrue();
}

/// The product of query and key under a scale.
bool matchScores(Value scores, Parts &parts) {
  double number = 1.0, scale = 1.0;
  if (Value operand = splitUniform<MulOp>(scores, number)) {
    scale = number;
    scores = operand;
  } else if (auto div = scores.getDefiningOp<DivOp>()) {
    std::optional<double> divisor = uniformValue(div.getRhs());
    if (!divisor || *divisor == 0.0)
      return false;
    scale = 1.0 / *divisor;
    scores = div.getLhs();
  }
  auto product = scores.getDefiningOp<BatchMatmulOp>();
  if (!product || product.getTransposeLhs() ||
      typeOf(product.getResult()).getRank() != 4)
    return false;
  Value key = product.getRhs();
  if (!product.getTransposeRhs()) {
    auto transpose = key.getDefiningOp<TransposeOp>();
    if (!transpose ||
        transpose.getPermutation() != ArrayRef<int64_t>{0, 1, 3, 2})
      return false;
    key = transpose.getOperand();
  }
  parts.query = product.getLhs();
  parts.key = key;
  parts.scale = scale;
  return true;
}

/// Scores, and the terms that are added to them.
bool matchSum(Value sum, Parts &parts) {
  if (matchScores(sum, parts))
    return true;
  auto add = sum.getDefiningOp<AddOp>();
  if (!add || parts.biases.size() == kMaxTerms)
    return false;
  for (unsigned i : {0u, 1u}) {
    parts.biases.push_back(add->getOperand(1 - i));
    if (matchSum(add->getOperand(i), parts))
      return true;
    parts.biases.pop_back();
  }
  return false;
}

bool matchWeights(Value weights, Parts &parts) {
  if (auto dropout = weights.getDefiningOp<DropoutOp>()) {
    if (dropout.getRowsPerSample() != 1)
      return false;
    parts.dropout = dropout.getProbability().convertToDouble();
    parts.site = dropout.getSite();
    weights = dropout.getOperand();
  }
  Value scores = operandOf<SoftmaxOp>(weights);
  if (!scores)
    return false;
  if (Value rest = matchSelect(scores, parts.biases.emplace_back()))
    return matchScores(rest, parts);
  parts.biases.clear();
  return matchSum(scores, parts);
}

/// What is added first was pushed last.
Value joinBiases(ArrayRef<Value> biases, BatchMatmulOp op,
                 PatternRewriter &rewriter) {
  if (biases.empty())
    return {};
  if (biases.size() == 1)
    return withoutRepeats(biases.front());
  Value sum = biases.back();
  for (Value bias : llvm::reverse(biases.drop_back()))
    sum = createLike<AddOp>(rewriter, op, sum, bias);
  return sum;
}

struct RecoverAttention : OpRewritePattern<BatchMatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchMatmulOp op,
                                PatternRewriter &rewriter) const override {
    Parts parts;
    if (op.getTransposeLhs() || op.getTransposeRhs() ||
        op.getType().getRank() != 4 || !matchWeights(op.getLhs(), parts))
      return rewriter.notifyMatchFailure(op, "no softmax of scores");
    auto mask = MaskAttr::get(rewriter.getContext(), MaskKind::None);
    auto attention = createLike<AttentionOp>(
        rewriter, op, parts.query, parts.key, op.getRhs(),
        joinBiases(parts.biases, op, rewriter), mask,
        llvm::APFloat(parts.scale), llvm::APFloat(parts.dropout), parts.site);
    rewriter.replaceOp(op, attention.getResult());
    return success();
  }
};

} // namespace

void smp::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<RecoverAttention>(patterns.getContext());
}
