//===- BatchNormSemantics.cpp - Normalisation over the batch --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

/// Calls `visit(channel, element)` for all elements of a tensor [N, C, ...].
template <typename Visitor>
static void forEachOfChannel(const Tensor &tensor, Visitor visit) {
  int64_t channels = tensor.dim(1);
  int64_t images = tensor.dim(0) * channels;
  int64_t width = images == 0 ? 0 : tensor.size() / images;
  for (int64_t image = 0; image < images; ++image)
    for (int64_t place = 0; place < width; ++place)
      visit(image % channels, image * width + place);
}

/// An element of a vector, 1 or 0 where there is none.
static double elementOf(const Tensor *vector, int64_t channel, double none) {
  return vector ? vector->floats()[channel] : none;
}

static Results evaluate(BatchNormOp op, Operands in, Context &) {
  const Tensor &x = in[0];
  const Tensor *weight = op.getWeight() ? &in[1] : nullptr;
  const Tensor *bias = op.getBias() ? &in[in.size() - 3] : nullptr;
  double epsilon = op.getEpsilon().convertToDouble(),
         momentum = op.getMomentum().convertToDouble();
  double count = double(x.size()) / x.dim(1);
  Tensor result(x.type(), x.shape()), mean(x.type(), {x.dim(1)}),
      rstd = mean, runningMean = in[in.size() - 2], runningVariance = in.back();
  auto means = mean.mutableFloats(), scales = rstd.mutableFloats(),
       y = result.mutableFloats();
  forEachOfChannel(x, [&](int64_t channel, int64_t place) {
    means[channel] += x.floats()[place] / count;
  });
  std::vector<double> squares(means.size(), 0.0);
  forEachOfChannel(x, [&](int64_t channel, int64_t place) {
    double centered = x.floats()[place] - means[channel];
    squares[channel] += centered * centered;
  });
  for (size_t channel = 0; channel < means.size(); ++channel) {
    scales[channel] = 1 / std::sqrt(squares[channel] / count + epsilon);
    auto fold = [&](double &running, double statistic) {
      running = (1 - momentum) * running + momentum * statistic;
    };
    fold(runningMean.mutableFloats()[channel], means[channel]);
    fold(runningVariance.mutableFloats()[channel],
         squares[channel] / (count - 1));
  }
  forEachOfChannel(x, [&](int64_t channel, int64_t place) {
    y[place] = (x.floats()[place] - means[channel]) * scales[channel] *
                   elementOf(weight, channel, 1) +
               elementOf(bias, channel, 0);
  });
  return {result, mean, rstd, runningMean, runningVariance};
}

// With x^ = (x - mean) rstd, for each channel of n elements:
// dx = weight rstd (c - mean(c) - x^ mean(c x^)).
static Results evaluate(BatchNormGradOp op, Operands in, Context &) {
  const Tensor &x = in[1], *weight = op.getWeight() ? &in[2] : nullptr;
  auto c = in[0].floats(), mean = in[in.size() - 2].floats(),
       rstd = in.back().floats();
  double count = double(x.size()) / x.dim(1);
  Tensor dx(x.type(), x.shape()), dw(x.type(), {x.dim(1)}), db = dw;
  auto dxs = dx.mutableFloats(), dws = dw.mutableFloats(),
       dbs = db.mutableFloats();
  auto normal = [&](int64_t channel, int64_t place) {
    return (x.floats()[place] - mean[channel]) * rstd[channel];
  };
  forEachOfChannel(x, [&](int64_t channel, int64_t place) {
    dws[channel] += c[place] * normal(channel, place);
    dbs[channel] += c[place];
  });
  forEachOfChannel(x, [&](int64_t channel, int64_t place) {
    dxs[place] = elementOf(weight, channel, 1) * rstd[channel] *
                 (c[place] - dbs[channel] / count -
                  normal(channel, place) * dws[channel] / count);
  });
  return {dx, dw, db};
}

static Tensor evaluate(BatchNormInferenceOp op, Operands in, Context &) {
  const Tensor &x = in[0];
  const Tensor *weight = op.getWeight() ? &in[1] : nullptr;
  const Tensor *bias = op.getBias() ? &in[in.size() - 3] : nullptr;
  auto mean = in[in.size() - 2].floats(), variance = in.back().floats();
  double epsilon = op.getEpsilon().convertToDouble();
  Tensor result(x.type(), x.shape());
  auto y = result.mutableFloats();
  forEachOfChannel(x, [&](int64_t channel, int64_t place) {
    y[place] = (x.floats()[place] - mean[channel]) /
                   std::sqrt(variance[channel] + epsilon) *
                   elementOf(weight, channel, 1) +
               elementOf(bias, channel, 0);
  });
  return result;
}

void attachBatchNormSemantics(MLIRContext *context) {
  attach<BatchNormOp, BatchNormGradOp, BatchNormInferenceOp>(context);
}

} // namespace smp::interpret
