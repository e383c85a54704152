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

Tensor smp::meanLoss(NodeImporter &n, Tensor sum, Value count) {
  int64_t index = n.state.terms++;
  std::string term = "loss";
  if (index > 0)
    term += "_" + std::to_string(index);
  return {MeanLossOp::create(n.builder, n.loc, sum.type(), sum.value, count,
                             n.builder.getStringAttr(term)),
          {}};
}

Tensor smp::meanLoss(NodeImporter &n, Tensor operand) {
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

static LogicalResult importSquaredError(NodeImporter &n) {
  int64_t reduction = n.integer("reduction", Mean);
  Tensor self = n.tensor("self"), target = n.tensor("target");
  if (n.refused() || self.shape != target.shape)
    return n.refuse("of tensors of different shapes");
  Tensor difference = n.binary<SubOp>(self, convert(n, target, self.element()));
  Tensor square = n.binary<MulOp>(difference, difference);
  if (reduction == None)
    return n.give(square);
  if (reduction == Mean)
    return n.give(meanLoss(n, square));
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, square.rank()));
  return n.give(n.reduce<ReduceSumOp>(square, all, /*keep=*/false));
}

ArrayRef<ImportRule> smp::lossRules() {
  static const ImportRule rules[] = {
      {"aten.cross_entropy_loss.default", importCrossEntropy, "self target"},
      {"aten.mse_loss.default", importSquaredError, "self target"},
  };
  return rules;
}
