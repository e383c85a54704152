//===- ImportClassLosses.cpp - Import of losses of classes ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"

using namespace mlir;
using namespace smp;

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

namespace {
/// What chooses of each row: a class, or none where that is ignored.
struct Labels {
  Tensor labels, isIgnored;
  Tensor safe;   ///< 0 where ignored
  Tensor weight; ///< [C]; may be null
  int64_t ignored;
};
} // namespace

/// Weights are counted in integers of 2^-36, since counts are integers: what
/// comes of them and of the data alone can be computed on any stage.
static constexpr double weightUnits = 0x1p36;

static Labels labelsOf(NodeImporter &n, const Tensor &labels,
                       const Tensor &weight, int64_t ignored) {
  Type index = labels.element();
  Tensor number = n.fill(ignored, index, labels.shape);
  Tensor isIgnored = n.compare(ComparePredicate::EQ, labels, number);
  Tensor safe = n.select(isIgnored, n.fill(0.0, index, labels.shape), labels);
  return {labels, isIgnored, safe, weight, ignored};
}

static Tensor zeroWhereIgnored(NodeImporter &n, const Labels &labels,
                               const Tensor &rows) {
  Tensor zero = n.fill(0.0, rows.element(), rows.shape);
  return n.select(labels.isIgnored, zero, rows);
}

static Tensor weighed(NodeImporter &n, const Tensor &rows,
                      const Tensor &weight) {
  if (!weight)
    return rows;
  return n.binary<MulOp>(
      rows, n.broadcast(convert(n, weight, rows.element()), rows.shape));
}

/// Of each row [C] minus the logarithm at its label, zero where that is
/// ignored; `smoothing` of it are minus the mean of all logarithms instead.
/// Each logarithm counts by the weight of its class.
static Tensor labelLosses(NodeImporter &n, Tensor logs, const Labels &labels,
                          double smoothing) {
  logs = weighed(n, logs, labels.weight);
  Shape column = {logs.shape[0], 1};
  Tensor places = n.reshape(labels.safe, column);
  Tensor picked = {GatherOp::create(n.builder, n.loc,
                                    tensorType(logs.element(), column),
                                    logs.value, places.value, 1),
                   column};
  Tensor losses = n.unary<NegOp>(n.reshape(picked, {logs.shape[0]}));
  if (smoothing != 0.0) {
    Tensor all = n.reduce<ReduceSumOp>(logs, {1}, /*keep=*/false);
    auto classes = double(logs.shape[1].constant().value_or(1));
    losses = n.binary<SubOp>(times(n, losses, 1 - smoothing),
                             times(n, all, smoothing / classes));
  }
  return zeroWhereIgnored(n, labels, losses);
}

/// Few bits have no room for the units.
static Type atLeastSingle(NodeImporter &n, Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? n.builder.getF32Type()
                                              : element;
}

/// The number of labels, or their weights in units.
static Value labelCount(NodeImporter &n, const Labels &labels) {
  Type integer = n.builder.getI64Type();
  if (!labels.weight)
    return LabelCountOp::create(n.builder, n.loc, tensorType(integer, {}),
                                labels.labels.value, labels.ignored);
  Tensor weight =
      n.cast(labels.weight, atLeastSingle(n, labels.weight.element()));
  Tensor units = n.cast(times(n, weight, weightUnits), integer);
  Shape rows = labels.labels.shape;
  Tensor ofLabels = {IndexOp::create(n.builder, n.loc,
                                     tensorType(integer, rows), units.value,
                                     labels.safe.value),
                     rows};
  return sumOfAll(n, zeroWhereIgnored(n, labels, ofLabels)).value;
}

static Tensor labelMean(NodeImporter &n, const Tensor &losses,
                        const Labels &labels) {
  Value count = labelCount(n, labels);
  if (!labels.weight)
    return meanLoss(n, sumOfAll(n, losses), count);
  Type element = losses.element();
  Tensor wide = n.cast(losses, atLeastSingle(n, element));
  Tensor mean = meanLoss(n, sumOfAll(n, wide), count);
  return n.cast(times(n, mean, weightUnits), element);
}

/// Gives the losses of rows, of `shape` where they are not reduced.
static LogicalResult giveLabelLosses(NodeImporter &n, const Tensor &logs,
                                     const Labels &labels, double smoothing,
                                     const Shape &shape) {
  Reduction reduction = reductionOf(n);
  if (n.refused())
    return failure();
  Tensor losses = labelLosses(n, logs, labels, smoothing);
  if (reduction == Reduction::None)
    return n.give(n.reshape(losses, shape));
  return n.give(reduction == Reduction::Sum ? sumOfAll(n, losses)
                                            : labelMean(n, losses, labels));
}

/// With probabilities as labels: minus Σ p log q of each row.
static LogicalResult importSoftLabels(NodeImporter &n, const Tensor &logs,
                                      Tensor labels, const Tensor &weight,
                                      double smoothing) {
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
  labels = weighed(n, labels, weight);
  Tensor losses = n.unary<NegOp>(n.reduce<ReduceSumOp>(
      n.binary<MulOp>(labels, logs), {1}, /*keep=*/false));
  bool isReduced = reductionOf(n) != Reduction::None;
  return giveReduced(n, isReduced ? losses : n.reshape(losses, shape));
}

static LogicalResult importCrossEntropy(NodeImporter &n) {
  Tensor logits = n.tensor("self"), labels = n.tensor("target");
  Tensor weight = n.optionalTensor("weight");
  Reduction reduction = reductionOf(n);
  int64_t ignored = n.integer("ignore_index", -100);
  double smoothing = n.number("label_smoothing", 0.0);
  Shape shape = labels.shape;
  logits = logits.rank() > 0 ? rowsOfClasses(n, logits) : Tensor();
  if (!logits)
    return n.refuse("of no classes or too many rows");
  if (isa<FloatType>(labels.element()))
    return importSoftLabels(n, logSoftmax(n, logits, 1), labels, weight,
                            smoothing);
  labels = n.reshape(labels, {logits.shape[0]});
  if (smoothing != 0.0 || reduction == Reduction::None || weight)
    return giveLabelLosses(n, logSoftmax(n, logits, 1),
                           labelsOf(n, labels, weight, ignored), smoothing,
                           shape);
  Type scalar = tensorType(logits.element(), {});
  auto op = CrossEntropyOp::create(
      n.builder, n.loc,
      TypeRange{scalar, tensorType(n.builder.getI64Type(), {}),
                tensorType(logits.element(), labels.shape)},
      logits.value, labels.value, ignored);
  Tensor sum = {op.getSum(), {}};
  return n.give(reduction == Reduction::Sum ? sum
                                            : meanLoss(n, sum, op.getCount()));
}

/// Minus the given logarithm of each row's label.
static LogicalResult importNegativeLikelihood(NodeImporter &n) {
  Tensor logs = n.tensor("self"), labels = n.tensor("target");
  Tensor weight = n.optionalTensor("weight");
  int64_t ignored = n.integer("ignore_index", -100);
  if (n.isUsed(1))
    return n.refuse("whose second result is used");
  Shape shape = labels.shape;
  logs = logs.rank() > 0 ? rowsOfClasses(n, logs) : Tensor();
  if (!logs)
    return n.refuse("of no classes or too many rows");
  labels = n.reshape(labels, {logs.shape[0]});
  return giveLabelLosses(n, logs, labelsOf(n, labels, weight, ignored), 0.0,
                         shape);
}

ArrayRef<ImportRule> smp::classLossRules() {
  static const ImportRule rules[] = {
      {"aten.cross_entropy_loss.default", importCrossEntropy, "self target"},
      {"aten.nll_loss_forward.default", importNegativeLikelihood,
       "self target"},
      {"aten.nll_loss.default", importNegativeLikelihood, "self target"},
      {"aten.nll_loss_nd.default", importNegativeLikelihood, "self target"},
  };
  return rules;
}
