//===- NormCosts.cpp - Costs of normalisations ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

// Operations an element; what a row needs once is not counted.
int64_t LayerNormOp::getFlops() { return 8 * countElements(getOperand()); }

int64_t LayerNormGradOp::getFlops() { return 14 * countElements(getOperand()); }

int64_t RmsNormOp::getFlops() { return 4 * countElements(getOperand()); }

int64_t RmsNormGradOp::getFlops() { return 10 * countElements(getOperand()); }

int64_t SoftmaxOp::getFlops() { return 5 * countElements(getOperand()); }

int64_t SoftmaxGradOp::getFlops() { return 4 * countElements(getOutput()); }
