//===- LossSemantics.cpp - Losses: a sum and the count to divide it by ---===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

/// Checks that each label is ignored or one of the classes.
static LogicalResult checkLabels(Operation *op, const Tensor &labels,
                                 int64_t ignored, int64_t classes) {
  for (int64_t label : labels.ints())
    if (label != ignored && (label < 0 || label >= classes))
      return op->emitOpError("expects labels in [0, ")
             << classes << ") or the ignored " << ignored << ", got " << label;
  return success();
}

static int64_t countLabels(const Tensor &labels, int64_t ignored) {
  return labels.size() - std::ranges::count(labels.ints(), ignored);
}

static double logSumExp(std::span<const double> x) {
  double largest = *std::ranges::max_element(x), sum = 0;
  for (double value : x)
    sum += std::exp(value - largest);
  return largest + std::log(sum);
}

static FailureOr<Results> evaluate(CrossEntropyOp op, Operands in, Context &) {
  const Tensor &logits = in[0], &labels = in[1];
  int64_t classes = logits.lastDim(), ignored = op.getIgnoreIndex();
  if (failed(checkLabels(op, labels, ignored, classes)))
    return failure();
  Tensor lse(logits.type(), labels.shape());
  double sum = 0;
  for (int64_t row = 0; row < labels.size(); ++row) {
    auto x = logits.floats().subspan(row * classes, classes);
    double rowLse = lse.mutableFloats()[row] = logSumExp(x);
    if (int64_t label = labels.ints()[row]; label != ignored)
      sum += rowLse - x[label];
  }
  return Results{Tensor::scalar(logits.type(), sum),
                 Tensor::index(countLabels(labels, ignored)), lse};
}

static FailureOr<Tensor> evaluate(CrossEntropyGradOp op, Operands in,
                                  Context &) {
  const Tensor &logits = in[1], &labels = in[2], &lse = in[3];
  int64_t classes = logits.lastDim(), ignored = op.getIgnoreIndex();
  if (failed(checkLabels(op, labels, ignored, classes)))
    return failure();
  Tensor result(logits.type(), logits.shape());
  auto gradient = result.mutableFloats();
  double cotangent = in[0].floats()[0];
  for (int64_t row = 0; row < labels.size(); ++row) {
    int64_t label = labels.ints()[row];
    if (label == ignored)
      continue;
    for (int64_t i = 0; i < classes; ++i) {
      int64_t at = row * classes + i;
      double probability = std::exp(logits.floats()[at] - lse.floats()[row]);
      gradient[at] = cotangent * (probability - (i == label ? 1 : 0));
    }
  }
  return result;
}

static Tensor evaluate(LabelCountOp op, Operands in, Context &) {
  return Tensor::index(countLabels(in[0], op.getIgnoreIndex()));
}

static Tensor evaluate(MeanLossOp, Operands in, Context &) {
  double sum = in[0].floats()[0];
  int64_t count = in[1].integer();
  return Tensor::scalar(in[0].type(), count == 0 ? 0 : sum / count);
}

void attachLossSemantics(MLIRContext *context) {
  attach<CrossEntropyOp, CrossEntropyGradOp, LabelCountOp, MeanLossOp>(context);
}

} // namespace smp::interpret
