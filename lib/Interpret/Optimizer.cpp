//===- Optimizer.cpp - One step of an optimizer on tensors ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimizer.h"
#include <cmath>

using namespace smp;
using namespace smp::interpret;

void interpret::adamWStep(const AdamWSettings &settings, const Tensor &gradient,
                          Tensor &parameter, Tensor &average, Tensor &square) {
  auto p = parameter.mutableFloats(), m = average.mutableFloats(),
       v = square.mutableFloats();
  for (size_t i = 0; i < p.size(); ++i) {
    double g = gradient.floats()[i] * settings.gradientScale;
    if (settings.coupled)
      g += settings.decay * p[i];
    else
      p[i] *= 1 - settings.rate * settings.decay;
    m[i] = settings.beta1 * m[i] + (1 - settings.beta1) * g;
    v[i] = settings.beta2 * v[i] + (1 - settings.beta2) * g * g;
    double deviation =
        std::sqrt(v[i]) / std::sqrt(settings.correction2) + settings.epsilon;
    p[i] -= settings.rate / settings.correction1 * m[i] / deviation;
  }
}

void interpret::sgdStep(const SgdSettings &settings, const Tensor &gradient,
                        Tensor &parameter, Tensor &buffer) {
  auto p = parameter.mutableFloats(), b = buffer.mutableFloats();
  for (size_t i = 0; i < p.size(); ++i) {
    double g =
        gradient.floats()[i] * settings.gradientScale + settings.decay * p[i];
    b[i] = settings.momentum * b[i] + g;
    p[i] -= settings.rate * b[i];
  }
}

double interpret::sumOfSquares(const Tensor &tensor) {
  double sum = 0;
  for (double element : tensor.floats())
    sum += element * element;
  return sum;
}

double interpret::clipFactor(double squares, double limit) {
  double factor = limit / (std::sqrt(squares) + 1e-6);
  // Not `std::min`, which would hide a norm that is not a number.
  return factor > 1 ? 1 : factor;
}
