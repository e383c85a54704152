//===- ImportLosses.cpp - Import of losses --------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// PyTorch's numbers for what becomes of the losses of all rows.
enum Reduction { None = 0, Mean = 1, Sum = 2 };

Tensor smp::meanLoss(NodeImporter &n, const Tensor &sum, Value count) {
  int64_t index = n.state.terms++;
  std::string term = "loss";
  if (index > 0)
    term += "_" + std::to_string(index);
  return {MeanLossOp::create(n.builder, n.loc, sum.type(), sum.value, count,
                             n.builder.getStringAttr(term)),
          {}};
}

Tensor smp::meanLoss(NodeImporter &n, const Tensor &operand) {
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, operand.rank()));
  Tensor sum = n.reduce<ReduceSumOp>(operand, all, /*keep=*/false);
  return meanLoss(n, sum, n.elementCount(operand.shape).value);
}

static LogicalResult importCrossEntropy(NodeImporter &n) {
  Tensor logits = n.tensor("self"), labels = n.tensor("target");
  int64_t reduction = n.integer("reduction", Mean);
  int64_t ignored = n.integer("ignore_index", -100);
  if (n.isGiven("weight"))
    return n.refuse("with class weights");
  if (n.number("label_smoothing", 0.0) != 0.0)
    return n.refuse("with label smoothing");
  if (isa<FloatType>(labels.element()))
    return n.refuse("with probabilities as labels");
  if (reduction == None || logits.rank() < 1)
    return n.refuse("without reduction");
  // [N, C, d...] or [C]: classes last, all else as rows.
  if (logits.rank() > 2)
    logits = n.moveDim(logits, 1, logits.rank() - 1);
  std::optional<pt2::SizeExpr> rows = elementsOf(labels.shape);
  if (!rows || n.refused())
    return n.refuse("of too many rows");
  logits = n.reshape(logits, {*rows, logits.shape.back()});
  labels = n.reshape(labels, {*rows});
  Type scalar = tensorType(logits.element(), {});
  auto op = CrossEntropyOp::create(
      n.builder, n.loc,
      TypeRange{scalar, tensorType(n.builder.getI64Type(), {}),
                tensorType(logits.element(), {*rows})},
      logits.value, labels.value, ignored);
  Tensor sum = {op.getSum(), {}};
  return n.give(reduction == Sum ? sum : meanLoss(n, sum, op.getCount()));
}

/// Minus the given logarithm of each row's label.
static LogicalResult importNegativeLikelihood(NodeImporter &n) {
  Tensor logs = n.tensor("self"), labels = n.tensor("target");
  int64_t reduction = n.integer("reduction", Mean);
  int64_t ignored = n.integer("ignore_index", -100);
  if (n.isGiven("weight") || reduction == None || logs.rank() != 2 ||
      labels.rank() != 1 || n.isUsed(1))
    return n.refuse("with class weights, without reduction, or of no rows");
  Type index = labels.element();
  Tensor number = n.fill(ignored, index, labels.shape);
  Tensor isIgnored = n.compare(ComparePredicate::EQ, labels, number);
  Tensor safe = n.select(isIgnored, n.fill(0.0, index, labels.shape), labels);
  Shape column = {labels.shape[0], 1};
  Tensor places = n.reshape(safe, column);
  Tensor picked = {GatherOp::create(n.builder, n.loc,
                                    tensorType(logs.element(), column),
                                    logs.value, places.value, 1),
                   column};
  Tensor losses = n.unary<NegOp>(n.reshape(picked, labels.shape));
  Tensor zero = n.fill(0.0, logs.element(), labels.shape);
  Tensor sum = n.reduce<ReduceSumOp>(n.select(isIgnored, zero, losses), {0},
                                     /*keep=*/false);
  if (n.refused())
    return failure();
  if (reduction == Sum)
    return n.give(sum);
  Value count = LabelCountOp::create(n.builder, n.loc,
                                     tensorType(n.builder.getI64Type(), {}),
                                     labels.value, ignored);
  return n.give(meanLoss(n, sum, count));
}

/// Reduces the losses of all elements as `reduction` says.
static LogicalResult giveReduced(NodeImporter &n, const Tensor &losses) {
  int64_t reduction = n.integer("reduction", Mean);
  if (n.refused())
    return failure();
  if (reduction == None || losses.rank() == 0)
    return n.give(losses);
  if (reduction == Mean)
    return n.give(meanLoss(n, losses));
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, losses.rank()));
  return n.give(n.reduce<ReduceSumOp>(losses, all, /*keep=*/false));
}

/// self - target, in self's type; null if the shapes differ.
static Tensor difference(NodeImporter &n) {
  Tensor self = n.tensor("self"), target = n.tensor("target");
  if (self.shape != target.shape)
    return {};
  return n.binary<SubOp>(self, convert(n, target, self.element()));
}

static LogicalResult importSquaredError(NodeImporter &n) {
  Tensor error = difference(n);
  if (!error)
    return n.refuse("of tensors of different shapes");
  return giveReduced(n, n.binary<MulOp>(error, error));
}

static LogicalResult importAbsoluteError(NodeImporter &n) {
  Tensor error = difference(n);
  if (!error)
    return n.refuse("of tensors of different shapes");
  return giveReduced(n, n.unary<AbsOp>(error));
}

/// max(x, 0) - x y + log(1 + exp(-|x|)), which no x makes overflow.
static LogicalResult importBinaryCrossEntropy(NodeImporter &n) {
  Tensor logits = n.tensor("self"), target = n.tensor("target");
  if (n.isGiven("weight") || n.isGiven("pos_weight"))
    return n.refuse("with weights");
  if (logits.shape != target.shape)
    return n.refuse("of tensors of different shapes");
  target = convert(n, target, logits.element());
  Tensor small = n.unary<ExpOp>(n.unary<NegOp>(n.unary<AbsOp>(logits)));
  Tensor one = n.fill(1.0, logits.element(), logits.shape);
  Tensor log = n.unary<LogOp>(n.binary<AddOp>(one, small));
  Tensor linear =
      n.binary<SubOp>(n.unary<ReluOp>(logits), n.binary<MulOp>(logits, target));
  return giveReduced(n, n.binary<AddOp>(linear, log));
}

ArrayRef<ImportRule> smp::lossRules() {
  static const ImportRule rules[] = {
      {"aten.cross_entropy_loss.default", importCrossEntropy, "self target"},
      {"aten.nll_loss_forward.default", importNegativeLikelihood,
       "self target"},
      {"aten.nll_loss.default", importNegativeLikelihood, "self target"},
      {"aten.nll_loss_nd.default", importNegativeLikelihood, "self target"},
      {"aten.mse_loss.default", importSquaredError, "self target"},
      {"aten.l1_loss.default", importAbsoluteError, "self target"},
      {"aten.binary_cross_entropy_with_logits.default",
       importBinaryCrossEntropy, "self target"},
  };
  return rules;
}
