//===- NormSemantics.cpp - Normalisations along the last dim -------------===//
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

/// The shape of one number for each row.
static Shape rowShape(const Tensor &tensor) {
  return Shape(tensor.shape().begin(), tensor.shape().end() - 1);
}

/// The weight of a column, 1 where there is no weight.
static double weightAt(const Tensor *weight, int64_t column) {
  return weight ? weight->floats()[column] : 1;
}

static Results evaluate(LayerNormOp op, Operands in, Context &) {
  const Tensor &x = in[0];
  const Tensor *weight = op.getWeight() ? &in[1] : nullptr;
  const Tensor *bias = op.getBias() ? &in.back() : nullptr;
  double epsilon = op.getEpsilon().convertToDouble();
  Tensor result(x.type(), x.shape()), mean(x.type(), rowShape(x)),
      rstd(x.type(), rowShape(x));
  auto y = result.mutableFloats(), means = mean.mutableFloats(),
       deviations = rstd.mutableFloats();
  int64_t width = x.lastDim();
  for (int64_t row = 0; row < x.rows(); ++row) {
    auto values = x.floats().subspan(row * width, width);
    double sum = 0, squares = 0;
    for (double value : values)
      sum += value;
    double center = sum / width;
    for (double value : values)
      squares += (value - center) * (value - center);
    means[row] = center;
    deviations[row] = 1 / std::sqrt(squares / width + epsilon);
    for (int64_t column = 0; column < width; ++column)
      y[row * width + column] = (values[column] - center) * deviations[row] *
                                    weightAt(weight, column) +
                                (bias ? bias->floats()[column] : 0);
  }
  return {result, mean, rstd};
}

// With x^ = (x - mean) rstd and g = cotangent * weight:
// dx = rstd (g - mean(g) - x^ mean(g x^)).
static Results evaluate(LayerNormGradOp op, Operands in, Context &) {
  const Tensor &x = in[1], *weight = op.getWeight() ? &in[2] : nullptr;
  auto cotangent = in[0].floats(), values = x.floats();
  auto mean = in[in.size() - 2].floats(), rstd = in.back().floats();
  int64_t width = x.lastDim();
  Tensor dx(x.type(), x.shape()), dw(x.type(), {width}), db(x.type(), {width});
  auto dxs = dx.mutableFloats(), dws = dw.mutableFloats(),
       dbs = db.mutableFloats();
  for (int64_t row = 0; row < x.rows(); ++row) {
    double sum = 0, product = 0;
    auto normal = [&](int64_t column) {
      return (values[row * width + column] - mean[row]) * rstd[row];
    };
    for (int64_t column = 0; column < width; ++column) {
      double c = cotangent[row * width + column];
      sum += c * weightAt(weight, column);
      product += c * weightAt(weight, column) * normal(column);
      dws[column] += c * normal(column);
      dbs[column] += c;
    }
    for (int64_t column = 0; column < width; ++column)
      dxs[row * width + column] =
          rstd[row] *
          (cotangent[row * width + column] * weightAt(weight, column) -
           sum / width - normal(column) * product / width);
  }
  return {dx, dw, db};
}

static Results evaluate(RmsNormOp op, Operands in, Context &) {
  const Tensor &x = in[0], *weight = op.getWeight() ? &in[1] : nullptr;
  double epsilon = op.getEpsilon().convertToDouble();
  Tensor result(x.type(), x.shape()), rstd(x.type(), rowShape(x));
  auto y = result.mutableFloats(), scales = rstd.mutableFloats();
  int64_t width = x.lastDim();
  for (int64_t row = 0; row < x.rows(); ++row) {
    auto values = x.floats().subspan(row * width, width);
    double squares = 0;
    for (double value : values)
      squares += value * value;
    scales[row] = 1 / std::sqrt(squares / width + epsilon);
    for (int64_t column = 0; column < width; ++column)
      y[row * width + column] =
          values[column] * scales[row] * weightAt(weight, column);
  }
  return {result, rstd};
}

// With g = cotangent * weight: dx = rstd (g - x rstd^2 mean(g x)).
static Results evaluate(RmsNormGradOp op, Operands in, Context &) {
  const Tensor &x = in[1], *weight = op.getWeight() ? &in[2] : nullptr;
  auto cotangent = in[0].floats(), values = x.floats();
  auto rstd = in.back().floats();
  int64_t width = x.lastDim();
  Tensor dx(x.type(), x.shape()), dw(x.type(), {width});
  auto dxs = dx.mutableFloats(), dws = dw.mutableFloats();
  for (int64_t row = 0; row < x.rows(); ++row) {
    double product = 0, r = rstd[row];
    for (int64_t column = 0; column < width; ++column) {
      int64_t at = row * width + column;
      product += cotangent[at] * weightAt(weight, column) * values[at];
      dws[column] += cotangent[at] * values[at] * r;
    }
    for (int64_t column = 0; column < width; ++column) {
      int64_t at = row * width + column;
      dxs[at] = r * (cotangent[at] * weightAt(weight, column) -
                     values[at] * r * r * product / width);
    }
  }
  return {dx, dw};
}

static Tensor evaluate(SoftmaxOp, Operands in, Context &) {
  Tensor result = in[0];
  auto y = result.mutableFloats();
  int64_t width = result.lastDim();
  for (int64_t row = 0; row < result.rows(); ++row) {
    auto values = y.subspan(row * width, width);
    double largest = *std::ranges::max_element(values), sum = 0;
    for (double &value : values)
      sum += value = std::exp(value - largest);
    for (double &value : values)
      value /= sum;
  }
  return result;
}

// dx = y (cotangent - sum(cotangent y)).
static Tensor evaluate(SoftmaxGradOp, Operands in, Context &) {
  Tensor result = in[0];
  auto dx = result.mutableFloats();
  auto y = in[1].floats();
  int64_t width = result.lastDim();
  for (int64_t row = 0; row < result.rows(); ++row) {
    double product = 0;
    for (int64_t at = row * width; at < (row + 1) * width; ++at)
      product += dx[at] * y[at];
    for (int64_t at = row * width; at < (row + 1) * width; ++at)
      dx[at] = y[at] * (dx[at] - product);
  }
  return result;
}

void attachNormSemantics(MLIRContext *context) {
  attach<LayerNormOp, LayerNormGradOp, RmsNormOp, RmsNormGradOp, SoftmaxOp,
         SoftmaxGradOp>(context);
}

} // namespace smp::interpret
