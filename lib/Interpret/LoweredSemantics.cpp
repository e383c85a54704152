//===- LoweredSemantics.cpp - Ops that lowering makes ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Random.h"
#include "Semantics.h"
#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static Tensor evaluate(ProductOp op, Operands in, Context &) {
  int64_t m = op.getM(), n = op.getN(), k = op.getK();
  auto lhs = in[0].floats(), rhs = in[1].floats();
  bool left = op.getTransposeLhs(), right = op.getTransposeRhs();
  Tensor result =
      op.getAccumulator() ? in[2] : Tensor(in[0].type(), shapeOf(op.getType()));
  auto sums = result.mutableFloats();
  for (int64_t entry = 0; entry < static_cast<int64_t>(op.getBatch());
       ++entry) {
    int64_t a = entry * m * k, b = entry / op.getDivBatch() * k * n;
    int64_t c = entry / op.getSumBatch() * m * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          sums[c + i * n + j] += lhs[a + (left ? l * m + i : i * k + l)] *
                                 rhs[b + (right ? j * k + l : l * n + j)];
  }
  return result;
}

/// The dropout factors of a tensor [B, H, S, T].
static DropoutMask maskOf(const Tensor &scores, auto op,
                          const Context &context) {
  return DropoutMask(context.step, op.getSite(),
                     op.getDropout().convertToDouble(),
                     scores.size() / std::max<int64_t>(1, scores.dim(0)));
}

static Results evaluate(AttentionSoftmaxOp op, Operands in, Context &context) {
  const Tensor &scores = in[0];
  ScoreBias bias(scores.shape(), op.getMask(), op.getBias() ? &in[1] : nullptr);
  DropoutMask dropout = maskOf(scores, op, context);
  double scale = op.getScale().convertToDouble();
  int64_t keys = scores.lastDim();
  Tensor result = scores;
  Tensor lse(scores.type(),
             Shape(scores.shape().begin(), scores.shape().end() - 1));
  auto weights = result.mutableFloats(), lses = lse.mutableFloats();
  std::vector<double> row(keys);
  for (int64_t r = 0; r < scores.rows(); ++r) {
    for (int64_t key = 0; key < keys; ++key)
      row[key] = scale * scores.floats()[r * keys + key] + bias.at(r, key);
    lses[r] = logSumExp(row);
    toProbabilities(row, lses[r]);
    for (int64_t key = 0; key < keys; ++key)
      weights[r * keys + key] = row[key] * dropout.factor(r * keys + key);
  }
  return {result, lse};
}

// With P the probabilities and M the dropout factors: the weights P M, and
// P (M dW - rowsum(dO O)) for the scaled scores, times scale for the others.
static Results evaluate(AttentionSoftmaxGradOp op, Operands in,
                        Context &context) {
  const Tensor &scores = in[0];
  auto weightGrad = in[1].floats(), output = in[2].floats(),
       cotangent = in[3].floats(), lse = in[4].floats();
  ScoreBias bias(scores.shape(), op.getMask(), op.getBias() ? &in[5] : nullptr);
  DropoutMask dropout = maskOf(scores, op, context);
  double scale = op.getScale().convertToDouble();
  double outer = op.getUnscaled() ? 1.0 : scale;
  int64_t keys = scores.lastDim(), width = in[2].lastDim();
  Tensor weights = scores, gradient = scores;
  auto w = weights.mutableFloats(), g = gradient.mutableFloats();
  std::vector<double> row(keys);
  for (int64_t r = 0; r < scores.rows(); ++r) {
    double delta = 0;
    for (int64_t i = 0; i < width; ++i)
      delta += cotangent[r * width + i] * output[r * width + i];
    for (int64_t key = 0; key < keys; ++key)
      row[key] = scale * scores.floats()[r * keys + key] + bias.at(r, key);
    toProbabilities(row, lse[r]);
    for (int64_t key = 0; key < keys; ++key) {
      int64_t at = r * keys + key;
      double factor = dropout.factor(at);
      w[at] = row[key] * factor;
      g[at] = outer * row[key] * (factor * weightGrad[at] - delta);
    }
  }
  return {weights, gradient};
}

static FailureOr<Results> evaluate(CrossEntropyRowsOp op, Operands in,
                                   Context &) {
  const Tensor &logits = in[0], &labels = in[1];
  int64_t classes = logits.lastDim(), ignored = op.getIgnoreIndex();
  Tensor losses(logits.type(), labels.shape()), lse = losses;
  for (int64_t row = 0; row < labels.size(); ++row) {
    auto x = logits.floats().subspan(row * classes, classes);
    double rowLse = logSumExp(std::vector<double>(x.begin(), x.end()));
    lse.mutableFloats()[row] = rowLse;
    int64_t label = labels.ints()[row];
    if (label == ignored)
      continue;
    if (label < 0 || label >= classes)
      return op.emitOpError("expects labels in [0, ")
             << classes << ") or the ignored " << ignored << ", got " << label;
    losses.mutableFloats()[row] = rowLse - x[label];
  }
  return Results{losses, lse};
}

/// What a kernel computes in place, a cluster computes on values.
static FailureOr<Results> evaluate(ClusterOp op, Operands in,
                                   Context &context) {
  return runBlock(op.getBody().front(), in, context);
}

void attachLoweredSemantics(MLIRContext *context) {
  attach<ProductOp, AttentionSoftmaxOp, AttentionSoftmaxGradOp,
         CrossEntropyRowsOp, ClusterOp>(context);
}

} // namespace smp::interpret
