//===- FoldCoordinates.cpp - Constants, positions and masks ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoordinateRules.h"
#include "RecoverPatterns.h"
#include "SpecializeSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// One op that gives these elements, or null.
static Operation *materialize(OpBuilder &builder, Operation *op,
                              const Elements &elements) {
  Value result = op->getResult(0);
  std::optional<int64_t> number;
  if (elements.isInteger())
    number = elements.integer.asConstant();
  else if (std::optional<bool> truth = elements.asBoolean())
    number = *truth;
  if (number)
    return FillOp::create(builder, op->getLoc(), result.getType(),
                          builder.getF64FloatAttr(double(*number)),
                          ValueRange());
  if (!elements.isInteger())
    return nullptr;
  if (std::optional<size_t> dim = elements.integer.asCoordinate())
    return IotaOp::create(builder, op->getLoc(), result.getType(),
                          builder.getI64IntegerAttr(*dim), ValueRange());
  return nullptr;
}

void smp::foldCoordinates(func::FuncOp function) {
  Block &body = function.getBody().front();
  CoordinateEvaluator evaluator(body);
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (op.getNumResults() != 1 || isa<FillOp, IotaOp>(op))
      continue;
    const Elements &elements = evaluator.of(op.getResult(0));
    OpBuilder builder(&op);
    if (Operation *folded = materialize(builder, &op, elements)) {
      copyScope(&op, folded);
      op.replaceAllUsesWith(folded);
    }
  }
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The condition of an additive mask: 0 where it holds, else a number so low
/// that no weight is left. Null for another bias.
static Value conditionOf(Value bias) {
  while (Value operand = operandOf<CastOp>(bias))
    bias = operand;
  if (auto expand = bias.getDefiningOp<ExpandOp>())
    if (typeOf(expand.getOperand()).getRank() == 4)
      bias = expand.getOperand();
  auto select = bias.getDefiningOp<SelectOp>();
  if (!select)
    return {};
  std::optional<double> kept = uniformValue(select.getOnTrue());
  std::optional<double> never = uniformValue(select.getOnFalse());
  return kept == 0.0 && never && *never <= -1e30 ? select.getCondition()
                                                 : Value();
}

/// k ≤ q, over [B, H, S, T].
static Elements causal(ArrayRef<int64_t> shape) {
  Affine difference = Affine::coordinate(2, 4);
  difference.coefficients[3] = -1;
  return isNotNegative(difference, shape);
}

static void foldMask(AttentionOp op, const CoordinateEvaluator &evaluator) {
  Value bias = op.getBias();
  if (!bias)
    return;
  Value condition = isBoolean(bias) ? bias : conditionOf(bias);
  if (!condition || typeOf(condition).getRank() != 4)
    return;
  // A mask may lack batch and heads, but must have each query and key.
  SmallVector<int64_t> scores(typeOf(condition).getShape());
  scores[2] = typeOf(op.getQuery()).getDimSize(2);
  scores[3] = typeOf(op.getKey()).getDimSize(2);
  Elements mask = evaluator.of(condition);
  if (mask.asBoolean() != true &&
      ArrayRef(scores) != typeOf(condition).getShape())
    return;
  if (op.getMask().getKind() == MaskKind::Causal)
    mask = conjunction(mask, causal(scores), scores);
  MaskKind kind = MaskKind::None;
  if (mask == causal(scores))
    kind = MaskKind::Causal;
  else if (mask.asBoolean() != true)
    return;
  op.getBiasMutable().clear();
  op.setMaskAttr(MaskAttr::get(op.getContext(), kind));
}

void smp::foldAttentionMasks(func::FuncOp function) {
  CoordinateEvaluator evaluator(function.getBody().front());
  function.walk([&](AttentionOp op) { foldMask(op, evaluator); });
}
