//===- ActivationSemantics.cpp - Nonlinear functions at each place -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

static Tensor evaluate(TanhOp, Operands in, Context &) {
  return map(in[0], [](double x) { return std::tanh(x); });
}

static Tensor evaluate(SigmoidOp, Operands in, Context &) {
  return map(in[0], logistic);
}

static Tensor evaluate(ReluOp, Operands in, Context &) {
  return map(in[0], [](double x) { return x <= 0 ? 0.0 : x; });
}

static Tensor evaluate(SiluOp, Operands in, Context &) {
  return map(in[0], [](double x) { return x * logistic(x); });
}

static Tensor evaluate(SiluGradOp, Operands in, Context &) {
  return zip(in[0], in[1], [](double x, double cotangent) {
    double s = logistic(x);
    return cotangent * s * (1 + x * (1 - s));
  });
}

// gelu(x) = x Phi(x), Phi the distribution function of the normal
// distribution, or its approximation by tanh:
// Phi(x) ~ (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.

static double tanhArgument(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

static double geluExact(double x) {
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

static double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(tanhArgument(x)));
}

static double geluExactSlope(double x) {
  double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * density;
}

static double geluTanhSlope(double x) {
  double t = std::tanh(tanhArgument(x));
  double inner = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

static Tensor evaluate(GeluOp op, Operands in, Context &) {
  return map(in[0], op.getApproximate() == GeluApproximation::Tanh ? geluTanh
                                                                   : geluExact);
}

static Tensor evaluate(GeluGradOp op, Operands in, Context &) {
  auto slope = op.getApproximate() == GeluApproximation::Tanh ? geluTanhSlope
                                                              : geluExactSlope;
  return zip(in[0], in[1],
             [=](double x, double cotangent) { return cotangent * slope(x); });
}

void attachActivationSemantics(MLIRContext *context) {
  attach<TanhOp, SigmoidOp, ReluOp, SiluOp, SiluGradOp, GeluOp, GeluGradOp>(
      context);
}

} // namespace smp::interpret
