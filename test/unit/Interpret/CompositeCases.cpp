//===- CompositeCases.cpp - Gradient tests of products and composites -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"
#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

static Shape withLast(Shape shape, int64_t last) {
  shape.push_back(last);
  return shape;
}

static void linear(GradientCase &c) {
  int64_t k = c.pick(1, 4), n = c.pick(1, 4);
  bool transposed = c.pick(0, 1);
  Value input = c.number(withLast(c.shape(0, 2), k));
  Value weight = c.number(transposed ? Shape{k, n} : Shape{n, k});
  c.finish(c.create<LinearOp>(input, weight, transposed));
}

static void linearWeightGrad(GradientCase &c) {
  Shape rows = c.shape(1, 2);
  Value cotangent = c.number(withLast(rows, c.pick(1, 4)));
  Value input = c.number(withLast(rows, c.pick(1, 4)));
  c.finish(c.create<LinearWeightGradOp>(cotangent, input, c.pick(0, 1) == 1));
}

static void batchMatmul(GradientCase &c) {
  int64_t m = c.pick(1, 4), k = c.pick(1, 4), n = c.pick(1, 4);
  Shape batch = c.shape(0, 2);
  bool lhs = c.pick(0, 1), rhs = c.pick(0, 1);
  auto matrix = [&](int64_t rows, int64_t columns, bool transposed) {
    if (transposed)
      std::swap(rows, columns);
    return c.number(withLast(withLast(batch, rows), columns));
  };
  Value left = matrix(m, k, lhs), right = matrix(k, n, rhs);
  c.finish(c.create<BatchMatmulOp>(left, right, lhs, rhs));
}

static void layerNorm(GradientCase &c) {
  int64_t width = c.pick(2, 5);
  Value operand = c.number(withLast(c.shape(0, 2), width));
  Value weight = c.pick(0, 1) ? c.number({width}) : Value();
  Value bias = c.pick(0, 1) ? c.number({width}) : Value();
  c.finish(c.create<LayerNormOp>(operand, weight, bias, APFloat(1e-2)));
}

static void rmsNorm(GradientCase &c) {
  int64_t width = c.pick(1, 5);
  Value operand = c.number(withLast(c.shape(0, 2), width));
  Value weight = c.pick(0, 1) ? c.number({width}) : Value();
  c.finish(c.create<RmsNormOp>(operand, weight, APFloat(1e-2)));
}

static void softmax(GradientCase &c) {
  c.finish(c.create<SoftmaxOp>(c.number(c.shape(1, 3))));
}

static MaskAttr randomMask(GradientCase &c) {
  MLIRContext *context = c.builder.getContext();
  switch (c.pick(0, 3)) {
  case 0:
    return MaskAttr::get(context, MaskKind::None);
  case 1:
    return MaskAttr::get(context, MaskKind::Causal);
  case 2:
    return MaskAttr::get(context, MaskKind::Window, c.pick(0, 2), c.pick(0, 2));
  default:
    return MaskAttr::get(context, MaskKind::Prefix, c.pick(1, 3));
  }
}

/// Grouped queries, masks, dropout; a bias that is fixed, a mask operand or
/// broadcasts and has a gradient.
static void attention(GradientCase &c) {
  int64_t batch = c.pick(1, 2), groups = c.pick(1, 2), queries = c.pick(1, 4);
  int64_t keys = c.pick(1, 4), width = c.pick(1, 3), valueWidth = c.pick(1, 3);
  int64_t heads = groups * c.pick(1, 2);
  Value query = c.number({batch, heads, queries, width});
  Value key = c.number({batch, groups, keys, width});
  Value value = c.number({batch, groups, keys, valueWidth});
  Shape biasShape = {batch, heads, queries, keys};
  for (int64_t &size : biasShape)
    size = c.pick(0, 2) ? size : 1;
  Value bias;
  if (int64_t kind = c.pick(0, 3); kind == 1)
    bias = c.fixed(randomTensor(c.random, biasShape));
  else if (kind == 2)
    bias = c.flags(biasShape);
  else if (kind == 3)
    bias = c.number(biasShape);
  c.finish(c.create<AttentionOp>(
      query, key, value, bias, randomMask(c), APFloat(0.7),
      APFloat(c.pick(0, 1) ? 0.3 : 0.0), c.pick(1, 100)));
}

static void rotaryEmbedding(GradientCase &c) {
  int64_t positions = c.pick(1, 4), half = c.pick(1, 3);
  Value operand =
      c.number(withLast(withLast(c.shape(0, 2), positions), 2 * half));
  Value cosine = c.number({positions, half}),
        sine = c.number({positions, half});
  c.finish(c.create<RotaryEmbeddingOp>(operand, cosine, sine));
}

static void crossEntropy(GradientCase &c) {
  int64_t rows = c.pick(1, 4), classes = c.pick(1, 5);
  Value logits = c.number({rows, classes});
  Tensor labels(DataType::I64, {rows});
  for (int64_t &label : labels.mutableInts())
    label = c.pick(0, 3) == 0 ? -100 : c.pick(0, classes - 1);
  c.finish(c.create<CrossEntropyOp>(logits, c.fixed(labels)));
}

static void meanLoss(GradientCase &c) {
  Value sum = c.number({});
  Value count = c.fixed(Tensor::index(c.pick(0, 4)));
  c.finish(c.create<MeanLossOp>(sum, count, "loss"));
}

ArrayRef<NamedCase> interpret::compositeCases() {
  static constexpr NamedCase cases[] = {
      {"smp.linear", linear},
      {"smp.linear_weight_grad", linearWeightGrad},
      {"smp.batch_matmul", batchMatmul},
      {"smp.layer_norm", layerNorm},
      {"smp.rms_norm", rmsNorm},
      {"smp.softmax", softmax},
      {"smp.attention", attention},
      {"smp.rotary_embedding", rotaryEmbedding},
      {"smp.cross_entropy", crossEntropy},
      {"smp.mean_loss", meanLoss},
  };
  return cases;
}
