//===- ConvolutionCosts.cpp - Costs of convolutions and batch norms -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

/// A multiply-add for each element of the output and of one kernel; places in
/// the padding count like others.
static int64_t convolutionFlops(Value output, Value kernels) {
  int64_t count = cast<RankedTensorType>(kernels.getType()).getDimSize(0);
  return 2 * countElements(output) * (countElements(kernels) / count);
}

int64_t Conv2dOp::getFlops() {
  return convolutionFlops(getResult(), getWeight()) +
         (getBias() ? countElements(getResult()) : 0);
}

int64_t Conv2dInputGradOp::getFlops() {
  return convolutionFlops(getCotangent(), getWeight());
}

int64_t Conv2dWeightGradOp::getFlops() {
  return convolutionFlops(getCotangent(), getResult());
}

// A comparison for each place of each window; the gradient visits them again.
int64_t MaxPool2dOp::getFlops() {
  return countElements(getResult()) * getKernel()[0] * getKernel()[1];
}

int64_t MaxPool2dGradOp::getFlops() {
  return countElements(getResult()) * getKernel()[0] * getKernel()[1];
}

// Operations an element; what a channel needs once is not counted.
int64_t BatchNormOp::getFlops() { return 8 * countElements(getOperand()); }

int64_t BatchNormGradOp::getFlops() { return 11 * countElements(getOperand()); }

int64_t BatchNormInferenceOp::getFlops() {
  return 4 * countElements(getOperand());
}
