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

Tensor smp::meanLoss(NodeImporter &n, const Tensor &sum, Value count) {
  int64_t index = n.state.terms++;
  std::string term = "loss";
  if (index > 0)
    term += "_" + std::to_string(index);
  return {MeanLossOp::create(n.builder, n.loc, sum.type(), sum.value, count,
                             n.builder.getStringAttr(term)),
          {}};
}

Tensor smp::sumOfAll(NodeImporter &n, const Tensor &operand) {
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, operand.rank()));
  return n.reduce<ReduceSumOp>(operand, all, /*keep=*/false);
}

Tensor smp::meanLoss(NodeImporter &n, const Tensor &operand) {
  return meanLoss(n, sumOfAll(n, operand), n.elementCount(operand.shape).value);
}

Reduction smp::reductionOf(NodeImporter &n) {
  return Reduction(n.integer("reduction", int64_t(Reduction::Mean)));
}

LogicalResult smp::giveReduced(NodeImporter &n, const Tensor &losses) {
  Reduction reduction = reductionOf(n);
  if (n.refused())
    return failure();
  if (reduction == Reduction::None || losses.rank() == 0)
    return n.give(losses);
  return n.give(reduction == Reduction::Mean ? meanLoss(n, losses)
                                             : sumOfAll(n, losses));
}

Tensor smp::times(NodeImporter &n, const Tensor &operand, double factor) {
  return n.binary<MulOp>(operand,
                         n.fill(factor, operand.element(), operand.shape));
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

/// Quadratic below the given size of an error, linear beyond: x² · square and
/// (x - offset) · slope.
static Tensor quadraticThenLinear(NodeImporter &n, const Tensor &error,
                                  double bound, double square, double offset,
                                  double slope) {
  Tensor size = n.unary<AbsOp>(error);
  auto number = [&](double value) {
    return n.fill(value, size.element(), size.shape);
  };
  Tensor isSmall = n.compare(ComparePredicate::LT, size, number(bound));
  Tensor linear = times(n, n.binary<SubOp>(size, number(offset)), slope);
  return n.select(isSmall, times(n, n.binary<MulOp>(size, size), square),
                  linear);
}

static LogicalResult importSmoothAbsoluteError(NodeImporter &n) {
  Tensor error = difference(n);
  if (!error)
    return n.refuse("of tensors of different shapes");
  double beta = n.number("beta", 1.0);
  if (beta == 0.0)
    return giveReduced(n, n.unary<AbsOp>(error));
  return giveReduced(
      n, quadraticThenLinear(n, error, beta, 0.5 / beta, 0.5 * beta, 1.0));
}

static LogicalResult importHuber(NodeImporter &n) {
  Tensor error = difference(n);
  if (!error)
    return n.refuse("of tensors of different shapes");
  double delta = n.number("delta", 1.0);
  return giveReduced(
      n, quadraticThenLinear(n, error, delta, 0.5, 0.5 * delta, delta));
}

/// y (log y - x), zero where y is; with `log_target` y is given as log y.
static LogicalResult importDivergence(NodeImporter &n) {
  Tensor logs = n.tensor("self"), target = n.tensor("target");
  if (logs.shape != target.shape)
    return n.refuse("of tensors of different shapes");
  target = convert(n, target, logs.element());
  if (n.flag("log_target", false))
    return giveReduced(n, n.binary<MulOp>(n.unary<ExpOp>(target),
                                          n.binary<SubOp>(target, logs)));
  Tensor zero = n.fill(0.0, target.element(), target.shape);
  Tensor one = n.fill(1.0, target.element(), target.shape);
  Tensor isPositive = n.compare(ComparePredicate::GT, target, zero);
  Tensor own = n.unary<LogOp>(n.select(isPositive, target, one));
  return giveReduced(n, n.binary<MulOp>(target, n.binary<SubOp>(own, logs)));
}

/// The losses of elements times their weights, where these are given.
static Tensor weighed(NodeImporter &n, const Tensor &losses) {
  Tensor weight = n.optionalTensor("weight");
  if (!weight)
    return losses;
  return n.binary<MulOp>(
      losses, n.broadcast(convert(n, weight, losses.element()), losses.shape));
}

/// max(x, 0) - x y + log(1 + exp(-|x|)), which no x makes overflow, and whose
/// slope at 0, where last layers begin that are zero, is 1/2 - y. The weight
/// w of positive answers counts in y: with v = 1 + (w - 1) y it is
/// (1 - y) x + v (log(1 + exp(-|x|)) + max(-x, 0)).
static LogicalResult importBinaryCrossEntropy(NodeImporter &n) {
  Tensor logits = n.tensor("self"), target = n.tensor("target");
  if (logits.shape != target.shape)
    return n.refuse("of tensors of different shapes");
  target = convert(n, target, logits.element());
  Tensor small = n.unary<ExpOp>(n.unary<NegOp>(n.unary<AbsOp>(logits)));
  Tensor one = n.fill(1.0, logits.element(), logits.shape);
  Tensor zero = n.fill(0.0, logits.element(), logits.shape);
  Tensor log = n.unary<LogOp>(n.binary<AddOp>(one, small));
  Tensor positive = n.optionalTensor("pos_weight");
  if (!positive) {
    Tensor linear = n.binary<SubOp>(n.binary<MaximumOp>(logits, zero),
                                    n.binary<MulOp>(logits, target));
    return giveReduced(n, weighed(n, n.binary<AddOp>(linear, log)));
  }
  positive = n.broadcast(convert(n, positive, logits.element()), logits.shape);
  Tensor factor = n.binary<AddOp>(
      one, n.binary<MulOp>(n.binary<SubOp>(positive, one), target));
  Tensor below = n.binary<MaximumOp>(n.unary<NegOp>(logits), zero);
  Tensor bent = n.binary<MulOp>(factor, n.binary<AddOp>(log, below));
  Tensor linear = n.binary<MulOp>(n.binary<SubOp>(one, target), logits);
  return giveReduced(n, weighed(n, n.binary<AddOp>(linear, bent)));
}

/// -y log x - (1 - y) log(1 - x), the logarithms at least -100. As in PyTorch
/// its slope is (x - y) / max(x (1 - x), 1e-12), which is finite where x is 0
/// or 1: a second summand that is zero has it.
static LogicalResult importProbabilities(NodeImporter &n) {
  Tensor x = n.tensor("self"), y = n.tensor("target");
  if (x.shape != y.shape)
    return n.refuse("of tensors of different shapes");
  y = convert(n, y, x.element());
  auto number = [&](double value) {
    return n.fill(value, x.element(), x.shape);
  };
  auto fixed = [&](const Tensor &operand) {
    return n.unary<StopGradientOp>(operand);
  };
  Tensor rest = n.binary<SubOp>(number(1.0), x);
  auto boundedLog = [&](const Tensor &operand) {
    return n.binary<MaximumOp>(n.unary<LogOp>(fixed(operand)), number(-100.0));
  };
  Tensor value = n.unary<NegOp>(n.binary<AddOp>(
      n.binary<MulOp>(y, boundedLog(x)),
      n.binary<MulOp>(n.binary<SubOp>(number(1.0), y), boundedLog(rest))));
  Tensor slope = n.binary<DivOp>(
      n.binary<SubOp>(x, y),
      n.binary<MaximumOp>(n.binary<MulOp>(rest, x), number(1e-12)));
  Tensor zero = n.binary<SubOp>(x, fixed(x));
  return giveReduced(
      n,
      weighed(n, n.binary<AddOp>(value, n.binary<MulOp>(zero, fixed(slope)))));
}

ArrayRef<ImportRule> smp::lossRules() {
  static const ImportRule rules[] = {
      {"aten.mse_loss.default", importSquaredError, "self target"},
      {"aten.l1_loss.default", importAbsoluteError, "self target"},
      {"aten.smooth_l1_loss.default", importSmoothAbsoluteError, "self target"},
      {"aten.huber_loss.default", importHuber, "self target"},
      {"aten.kl_div.default", importDivergence, "self target"},
      {"aten.binary_cross_entropy_with_logits.default",
       importBinaryCrossEntropy, "self target"},
      {"aten.binary_cross_entropy.default", importProbabilities, "self target"},
  };
  return rules;
}
