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

static Tensor sumOfAll(NodeImporter &n, const Tensor &operand) {
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, operand.rank()));
  return n.reduce<ReduceSumOp>(operand, all, /*keep=*/false);
}

/// Reduces the losses of all elements as `reduction` says.
static LogicalResult giveReduced(NodeImporter &n, const Tensor &losses) {
  int64_t reduction = n.integer("reduction", Mean);
  if (n.refused())
    return failure();
  if (reduction == None || losses.rank() == 0)
    return n.give(losses);
  return n.give(reduction == Mean ? meanLoss(n, losses) : sumOfAll(n, losses));
}

static Tensor times(NodeImporter &n, const Tensor &operand, double factor) {
  return n.binary<MulOp>(operand,
                         n.fill(factor, operand.element(), operand.shape));
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// [N, C, d...] or [C] as [rows, C]: classes last, all else as rows. Null if
/// the rows are too many.
static Tensor rowsOfClasses(NodeImporter &n, Tensor classes) {
  if (classes.rank() > 2)
    classes = n.moveDim(classes, 1, classes.rank() - 1);
  Shape outer(classes.shape.begin(), classes.shape.end() - 1);
  std::optional<pt2::SizeExpr> rows = elementsOf(outer);
  if (!rows || n.refused())
    return {};
  return n.reshape(classes, {*rows, classes.shape.back()});
}

/// Of each row minus the logarithm at its label, zero where that is ignored;
/// `smoothing` of it are minus the mean of all logarithms instead.
static Tensor labelLosses(NodeImporter &n, const Tensor &logs,
                          const Tensor &labels, int64_t ignored,
                          double smoothing) {
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
  if (smoothing != 0.0) {
    Tensor all = n.reduce<ReduceSumOp>(logs, {1}, /*keep=*/false);
    auto classes = double(logs.shape[1].constant().value_or(1));
    losses = n.binary<SubOp>(times(n, losses, 1 - smoothing),
                             times(n, all, smoothing / classes));
  }
  Tensor zero = n.fill(0.0, logs.element(), labels.shape);
  return n.select(isIgnored, zero, losses);
}

/// The losses of rows with a label, of `shape` where they are not reduced.
static LogicalResult giveLabelLosses(NodeImporter &n, const Tensor &losses,
                                     const Tensor &labels, int64_t ignored,
                                     const Shape &shape) {
  int64_t reduction = n.integer("reduction", Mean);
  if (n.refused())
    return failure();
  if (reduction == None)
    return n.give(n.reshape(losses, shape));
  Tensor sum = sumOfAll(n, losses);
  if (reduction == Sum)
    return n.give(sum);
  Value count = LabelCountOp::create(n.builder, n.loc,
                                     tensorType(n.builder.getI64Type(), {}),
                                     labels.value, ignored);
  return n.give(meanLoss(n, sum, count));
}

/// With probabilities as labels: minus Σ p log q of each row.
static LogicalResult importSoftLabels(NodeImporter &n, const Tensor &logs,
                                      Tensor labels, double smoothing) {
  Shape shape = labels.shape;
  if (shape.size() > 1)
    shape.erase(shape.begin() + 1);
  else
    shape.clear();
  labels = rowsOfClasses(n, convert(n, labels, logs.element()));
  if (!labels || labels.shape != logs.shape)
    return n.refuse("of logits and probabilities of different shapes");
  auto classes = double(logs.shape[1].constant().value_or(1));
  if (smoothing != 0.0)
    labels = n.binary<AddOp>(
        times(n, labels, 1 - smoothing),
        n.fill(smoothing / classes, labels.element(), labels.shape));
  Tensor losses = n.unary<NegOp>(n.reduce<ReduceSumOp>(
      n.binary<MulOp>(labels, logs), {1}, /*keep=*/false));
  bool isReduced = n.integer("reduction", Mean) != None;
  return giveReduced(n, isReduced ? losses : n.reshape(losses, shape));
}

static LogicalResult importCrossEntropy(NodeImporter &n) {
  Tensor logits = n.tensor("self"), labels = n.tensor("target");
  int64_t reduction = n.integer("reduction", Mean);
  int64_t ignored = n.integer("ignore_index", -100);
  double smoothing = n.number("label_smoothing", 0.0);
  if (n.isGiven("weight"))
    return n.refuse("with class weights");
  Shape shape = labels.shape;
  logits = logits.rank() > 0 ? rowsOfClasses(n, logits) : Tensor();
  if (!logits)
    return n.refuse("of no classes or too many rows");
  if (isa<FloatType>(labels.element()))
    return importSoftLabels(n, logSoftmax(n, logits, 1), labels, smoothing);
  labels = n.reshape(labels, {logits.shape[0]});
  if (smoothing != 0.0 || reduction == None)
    return giveLabelLosses(
        n, labelLosses(n, logSoftmax(n, logits, 1), labels, ignored, smoothing),
        labels, ignored, shape);
  Type scalar = tensorType(logits.element(), {});
  auto op = CrossEntropyOp::create(
      n.builder, n.loc,
      TypeRange{scalar, tensorType(n.builder.getI64Type(), {}),
                tensorType(logits.element(), labels.shape)},
      logits.value, labels.value, ignored);
  Tensor sum = {op.getSum(), {}};
  return n.give(reduction == Sum ? sum : meanLoss(n, sum, op.getCount()));
}

/// Minus the given logarithm of each row's label.
static LogicalResult importNegativeLikelihood(NodeImporter &n) {
  Tensor logs = n.tensor("self"), labels = n.tensor("target");
  int64_t ignored = n.integer("ignore_index", -100);
  if (n.isGiven("weight") || n.isUsed(1))
    return n.refuse("with class weights");
  Shape shape = labels.shape;
  logs = logs.rank() > 0 ? rowsOfClasses(n, logs) : Tensor();
  if (!logs)
    return n.refuse("of no classes or too many rows");
  labels = n.reshape(labels, {logs.shape[0]});
  return giveLabelLosses(n, labelLosses(n, logs, labels, ignored, 0.0), labels,
                         ignored, shape);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

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
      {"aten.cross_entropy_loss.default", importCrossEntropy, "self target"},
      {"aten.nll_loss_forward.default", importNegativeLikelihood,
       "self target"},
      {"aten.nll_loss.default", importNegativeLikelihood, "self target"},
      {"aten.nll_loss_nd.default", importNegativeLikelihood, "self target"},
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
