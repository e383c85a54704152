//===- PlainRegression.cpp - The regression of the test job as loops ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegressionJob.h"
#include "smp/Support/Initializers.h"

using namespace smp;
using namespace smp::runtime::test;

PlainRegression::PlainRegression(const RegressionShape &shape) : shape(shape) {
  auto reference = [](const char *name, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    initializeReference(name, 2, 0, values);
    return std::vector<double>(values.begin(), values.end());
  };
  w1 = reference("w1.weight", shape.inputs * shape.hidden);
  w2 = reference("w2.weight", shape.hidden * shape.outputs);
  v1.assign(w1.size(), 0);
  v2.assign(w2.size(), 0);
}

/// h = x W1 + shift, y = h W2.
static void forward(const PlainRegression &net, int64_t sample, double shift,
                    std::vector<double> &h, std::vector<double> &y) {
  const RegressionShape &s = net.shape;
  h.assign(size_t(s.hidden), shift);
  y.assign(size_t(s.outputs), 0);
  for (int64_t j = 0; j < s.hidden; ++j)
    for (int64_t i = 0; i < s.inputs; ++i)
      h[j] += dataElement(sample, i, false) * net.w1[i * s.hidden + j];
  for (int64_t o = 0; o < s.outputs; ++o)
    for (int64_t j = 0; j < s.hidden; ++j)
      y[o] += h[j] * net.w2[j * s.outputs + o];
}

double PlainRegression::step(
    const std::vector<std::pair<int64_t, int64_t>> &sampleAndGlobal,
    double learningRate) {
  std::vector<double> g1(w1.size()), g2(w2.size()), h, y;
  double count = double(sampleAndGlobal.size()) * double(shape.outputs);
  double loss = 0;
  for (auto [sample, global] : sampleAndGlobal) {
    forward(*this, sample, 0.01 * double(global % 7), h, y);
    std::vector<double> dh(h.size());
    for (int64_t o = 0; o < shape.outputs; ++o) {
      double e = y[o] - dataElement(sample, o, true), dy = 2 * e / count;
      loss += e * e / count;
      for (int64_t j = 0; j < shape.hidden; ++j) {
        g2[j * shape.outputs + o] += h[j] * dy;
        dh[j] += dy * w2[j * shape.outputs + o];
      }
    }
    for (int64_t i = 0; i < shape.inputs; ++i)
      for (int64_t j = 0; j < shape.hidden; ++j)
        g1[i * shape.hidden + j] += dataElement(sample, i, false) * dh[j];
  }
  auto update = [&](std::vector<double> &w, std::vector<double> &v,
                    const std::vector<double> &g) {
    for (size_t i = 0; i < w.size(); ++i) {
      v[i] = 0.9 * v[i] + g[i];
      w[i] -= learningRate * v[i];
    }
  };
  update(w1, v1, g1);
  update(w2, v2, g2);
  return loss;
}

double PlainRegression::evaluate(int64_t count) const {
  std::vector<double> h, y;
  double sum = 0;
  for (int64_t sample = 0; sample < count; ++sample) {
    forward(*this, sample, 0, h, y);
    for (int64_t o = 0; o < shape.outputs; ++o) {
      double e = y[o] - dataElement(sample, o, true);
      sum += e * e;
    }
  }
  return sum / double(count * shape.outputs);
}
