//===- AttentionSemantics.cpp - Attention and rotary embedding -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "Random.h"
#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

namespace {

/// Query [B, H, S, D], key [B, G, T, D] and value [B, G, T, E], G a divisor of
/// H: query head h reads key head h / (H / G).
struct Heads {
  Heads(const Tensor &query, const Tensor &key, const Tensor &value)
      : q(query.floats()), k(key.floats()), v(value.floats()),
        batch(query.dim(0)), heads(query.dim(1)), queries(query.dim(2)),
        keys(key.dim(2)), width(query.dim(3)), valueWidth(value.dim(3)),
        keyHeads(key.dim(1)) {}

  int64_t rows() const { return batch * heads * queries; }
  Shape scores() const { return {batch, heads, queries, keys}; }
  /// Where the keys (or values, of the given width) of a row of scores begin.
  int64_t keyBase(int64_t row, int64_t elements) const {
    int64_t head = row / queries;
    int64_t group = head % heads / (heads / keyHeads);
    return (head / heads * keyHeads + group) * keys * elements;
  }

  std::span<const double> q, k, v;
  int64_t batch, heads, queries, keys, width, valueWidth, keyHeads;
};

} // namespace

static double dot(std::span<const double> x, int64_t xBase,
                  std::span<const double> y, int64_t yBase, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += x[xBase + i] * y[yBase + i];
  return sum;
}

/// The scaled scores of one row, bias included.
static void scoresOfRow(const Heads &heads, const ScoreBias &bias, double scale,
                        int64_t row, std::vector<double> &scores) {
  int64_t base = heads.keyBase(row, heads.width);
  for (int64_t key = 0; key < heads.keys; ++key)
    scores[key] = scale * dot(heads.q, row * heads.width, heads.k,
                              base + key * heads.width, heads.width) +
                  bias.at(row, key);
}

static DropoutMask maskOf(const Heads &heads, auto op, const Context &context) {
  return DropoutMask(context.step, op.getSite(),
                     op.getDropout().convertToDouble(),
                     heads.heads * heads.queries * heads.keys);
}

static Results evaluate(AttentionOp op, Operands in, Context &context) {
  Heads heads(in[0], in[1], in[2]);
  ScoreBias bias(heads.scores(), op.getMask(), op.getBias() ? &in[3] : nullptr);
  DropoutMask dropout = maskOf(heads, op, context);
  Shape shape = in[0].shape();
  shape.back() = heads.valueWidth;
  Tensor result(in[0].type(), shape);
  shape.pop_back();
  Tensor lse(in[0].type(), shape);
  auto out = result.mutableFloats(), lses = lse.mutableFloats();
  std::vector<double> row(heads.keys);
  for (int64_t r = 0; r < heads.rows(); ++r) {
    scoresOfRow(heads, bias, op.getScale().convertToDouble(), r, row);
    lses[r] = logSumExp(row);
    toProbabilities(row, lses[r]);
    int64_t base = heads.keyBase(r, heads.valueWidth);
    for (int64_t key = 0; key < heads.keys; ++key) {
      double weight = row[key] * dropout.factor(r * heads.keys + key);
      for (int64_t i = 0; i < heads.valueWidth; ++i)
        out[r * heads.valueWidth + i] +=
            weight * heads.v[base + key * heads.valueWidth + i];
    }
  }
  return {result, lse};
}

// With P the probabilities, M the dropout factors and O = (P M) V:
// dV = (P M)^T dO, dS = P (M (dO V^T) - rowsum(dO O)), dQ = scale dS K,
// dK = scale dS^T Q; grouped keys and values gather from all their queries, and
// the bias from all the scores it is added to.
static Results evaluate(AttentionGradOp op, Operands in, Context &context) {
  Heads heads(in[1], in[2], in[3]);
  ScoreBias bias(heads.scores(), op.getMask(), op.getBias() ? &in[6] : nullptr);
  DropoutMask dropout = maskOf(heads, op, context);
  auto cotangent = in[0].floats(), output = in[4].floats();
  double scale = op.getScale().convertToDouble();
  int64_t width = heads.width, valueWidth = heads.valueWidth;
  Tensor dq(in[1].type(), in[1].shape()), dk(in[2].type(), in[2].shape()),
      dv(in[3].type(), in[3].shape());
  auto dqs = dq.mutableFloats(), dks = dk.mutableFloats(),
       dvs = dv.mutableFloats();
  std::optional<Tensor> dbias;
  if (op.getBiasGradient())
    dbias.emplace(in[6].type(), in[6].shape());
  std::vector<double> row(heads.keys);
  for (int64_t r = 0; r < heads.rows(); ++r) {
    scoresOfRow(heads, bias, scale, r, row);
    toProbabilities(row, in[5].floats()[r]);
    double delta =
        dot(cotangent, r * valueWidth, output, r * valueWidth, valueWidth);
    for (int64_t key = 0; key < heads.keys; ++key) {
      int64_t k = heads.keyBase(r, width) + key * width;
      int64_t v = heads.keyBase(r, valueWidth) + key * valueWidth;
      double factor = dropout.factor(r * heads.keys + key);
      double dScore = row[key] * (factor * dot(cotangent, r * valueWidth,
                                               heads.v, v, valueWidth) -
                                  delta);
      if (dbias)
        dbias->mutableFloats()[bias.element(r, key)] += dScore;
      for (int64_t i = 0; i < valueWidth; ++i)
        dvs[v + i] += row[key] * factor * cotangent[r * valueWidth + i];
      for (int64_t i = 0; i < width; ++i) {
        dqs[r * width + i] += scale * dScore * heads.k[k + i];
        dks[k + i] += scale * dScore * heads.q[r * width + i];
      }
    }
  }
  Results results = {dq, dk, dv};
  if (dbias)
    results.push_back(*dbias);
  return results;
}

// (x1, x2) -> (x1 cos - x2 sin, x2 cos + x1 sin), x1 and x2 the halves of the
// last dim; angles [S, D/2] belong to the second last and last dims.
static Tensor evaluate(RotaryEmbeddingOp, Operands in, Context &) {
  Tensor result = in[0];
  auto x = in[0].floats(), cosine = in[1].floats(), sine = in[2].floats();
  auto y = result.mutableFloats();
  int64_t half = in[1].lastDim(), positions = in[1].dim(0);
  for (int64_t row = 0; row < result.rows(); ++row)
    for (int64_t i = 0; i < half; ++i) {
      int64_t first = row * 2 * half + i, second = first + half;
      int64_t angle = row % positions * half + i;
      y[first] = x[first] * cosine[angle] - x[second] * sine[angle];
      y[second] = x[second] * cosine[angle] + x[first] * sine[angle];
    }
  return result;
}

void attachAttentionSemantics(MLIRContext *context) {
  attach<AttentionOp, AttentionGradOp, RotaryEmbeddingOp>(context);
}

} // namespace smp::interpret
