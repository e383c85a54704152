//===- RecoverRotary.cpp - Rotary embeddings from their pieces ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: with x = (x₁, x₂) halves of the last dim, x · C + (-x₂, x₁) · S rotates
// the pairs (x₁ᵢ, x₂ᵢ) when C = (c, c) and S = (s, s). That the halves of C
// and S are equal is proved by computing one half from half of what they are
// made of; the proof fails for everything but repetition and elementwise ops.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

static RankedTensorType halved(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 2;
  return RankedTensorType::get(shape, type.getElementType());
}

static int64_t lastSize(Value value) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  return shape.empty() ? 1 : shape.back();
}

/// Whether `value` is some rows twice, one after the other: (c, c).
static bool isTwice(Value value) {
  auto concat = value.getDefiningOp<ConcatOp>();
  return concat && concat.getOperands().size() == 2 &&
         concat.getOperands()[0] == concat.getOperands()[1] &&
         int64_t(concat.getDim()) == typeOf(value).getRank() - 1;
}

/// Whether each row is one number: a fill, or repeated from size 1.
static bool isUniformInRow(Value value) {
  Value operand = operandOf<ExpandOp>(value);
  return value.getDefiningOp<FillOp>() || (operand && lastSize(operand) == 1);
}

/// What an expand or a reshape moves without touching the last dim, or null.
static Value movedRows(Value value) {
  Value operand = operandOf<ExpandOp>(value);
  if (!operand)
    operand = operandOf<ReshapeOp>(value);
  return operand && lastSize(operand) == lastSize(value) ? operand : Value();
}

/// Whether both halves of the last dim are equal, and proved so.
static bool hasEqualHalves(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 16 || lastSize(value) % 2 != 0)
    return false;
  if (isTwice(value) || isUniformInRow(value))
    return true;
  if (Value rows = movedRows(value))
    return hasEqualHalves(rows, depth + 1);
  return op->hasTrait<OpTrait::Elementwise>() &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return hasEqualHalves(operand, depth + 1);
         });
}

/// One of the two halves of the last dim; they are proved equal.
static Value equalHalf(PatternRewriter &rewriter, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto concat = dyn_cast<ConcatOp>(op))
    return concat.getOperands()[0];
  SmallVector<Value> operands(op->getOperands());
  bool sized = isa<SizedOpInterface>(op);
  for (Value &operand : operands)
    // Not the sizes, and not what is repeated from size 1.
    if (isa<RankedTensorType>(operand.getType()) &&
        !(sized && lastSize(operand) == 1))
      operand = equalHalf(rewriter, operand);
  rewriter.setInsertionPointAfter(op);
  Operation *half = rewriter.clone(*op);
  half->setOperands(operands);
  half->getResult(0).setType(halved(typeOf(value)));
  return half->getResult(0);
}

/// Half of a [S, D] table that an expand repeats over the leading dims of
/// [..., S, D], as [S, D / 2]; else null. Without `build` only says whether.
static Value tableOf(PatternRewriter &rewriter, Value value, bool build) {
  auto expand = value.getDefiningOp<ExpandOp>();
  if (!expand)
    return {};
  RankedTensorType to = expand.getType(), from = typeOf(expand.getOperand());
  int64_t rank = to.getRank();
  int64_t rows = to.getDimSize(rank - 2), columns = to.getDimSize(rank - 1);
  if (!from.hasStaticShape() || ShapedType::isDynamic(rows) ||
      from.getNumElements() != rows * columns || columns % 2 != 0)
    return {};
  for (auto [dim, target] : llvm::enumerate(expand.getDims()))
    if (from.getDimSize(dim) != 1 && target < rank - 2)
      return {};
  if (!hasEqualHalves(expand.getOperand()))
    return {};
  if (!build)
    return value;
  Value half = equalHalf(rewriter, expand.getOperand());
  // Named after what computes the table, so that all layers share it.
  while (Value operand = operandOf<ReshapeOp>(half))
    half = operand;
  auto type = RankedTensorType::get({rows, columns / 2}, from.getElementType());
  if (type == half.getType())
    return half;
  rewriter.setInsertionPointAfterValue(half);
  auto table =
      ReshapeOp::create(rewriter, half.getLoc(), type, half, ValueRange());
  if (Operation *source = half.getDefiningOp())
    copyScope(source, table);
  return table;
}

/// Whether `value` is (-x₂, x₁).
static bool isRotated(Value value, Value x) {
  auto concat = value.getDefiningOp<ConcatOp>();
  int64_t last = typeOf(x).getRank() - 1, half = lastSize(x) / 2;
  if (!concat || concat.getOperands().size() != 2 ||
      int64_t(concat.getDim()) != last)
    return false;
  auto isSlice = [&](Value piece, int64_t start) {
    auto slice = piece ? piece.getDefiningOp<SliceOp>() : SliceOp();
    return slice && slice.getOperand() == x &&
           int64_t(slice.getDim()) == last && slice.getStep() == 1 &&
           int64_t(slice.getStart()) == start &&
           int64_t(slice.getStop()) == start + half;
  };
  return isSlice(operandOf<NegOp>(concat.getOperands()[0]), half) &&
         isSlice(concat.getOperands()[1], 0);
}

namespace {

struct RecoverRotary : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getType().getRank() < 3 || lastSize(op.getResult()) % 2 != 0)
      return rewriter.notifyMatchFailure(op, "no pairs in the last dim");
    for (unsigned term : {0u, 1u})
      for (unsigned i : {0u, 1u})
        for (unsigned j : {0u, 1u})
          if (succeeded(tryOrder(op, term, i, j, rewriter)))
            return success();
    return rewriter.notifyMatchFailure(op, "no rotation of halves");
  }

private:
  /// The rotated term is operand `term`, in it the rotated half operand `i`,
  /// and x is operand `j` of the other term.
  static LogicalResult tryOrder(AddOp op, unsigned term, unsigned i, unsigned j,
                                PatternRewriter &rewriter) {
    auto rotated = op->getOperand(term).getDefiningOp<MulOp>();
    auto straight = op->getOperand(1 - term).getDefiningOp<MulOp>();
    if (!rotated || !straight)
      return failure();
    Value x = straight->getOperand(j);
    if (!isRotated(rotated->getOperand(i), x))
      return failure();
    Value sine = rotated->getOperand(1 - i);
    Value cosine = straight->getOperand(1 - j);
    if (!tableOf(rewriter, sine, /*build=*/false) ||
        !tableOf(rewriter, cosine, /*build=*/false))
      return failure();
    sine = tableOf(rewriter, sine, /*build=*/true);
    cosine = tableOf(rewriter, cosine, /*build=*/true);
    rewriter.setInsertionPoint(op);
    auto rotary = createLike<RotaryEmbeddingOp>(rewriter, op, x.getType(), x,
                                                cosine, sine);
    rewriter.replaceOp(op, rotary.getResult());
    return success();
  }
};

} // namespace

void smp::populateRotaryPatterns(RewritePatternSet &patterns) {
  patterns.add<RecoverRotary>(patterns.getContext());
}
