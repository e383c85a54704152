//===- Optimizer.h - One step of an optimizer on tensors --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_OPTIMIZER_H
#define SMP_LIB_INTERPRET_OPTIMIZER_H

#include "smp/Interpret/Tensor.h"

namespace smp::interpret {

struct AdamWSettings {
  double rate, correction1, correction2;
  double beta1, beta2, epsilon, decay;
  bool coupled = false; ///< Adam: decay is a part of the gradient
  double gradientScale = 1;
};
void adamWStep(const AdamWSettings &settings, const Tensor &gradient,
               Tensor &parameter, Tensor &average, Tensor &square);

struct SgdSettings {
  double rate, momentum, decay;
  double gradientScale = 1;
};
void sgdStep(const SgdSettings &settings, const Tensor &gradient,
             Tensor &parameter, Tensor &buffer);

double sumOfSquares(const Tensor &tensor);
/// min(1, limit / (sqrt(squares) + 1e-6)).
double clipFactor(double squares, double limit);

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_OPTIMIZER_H
