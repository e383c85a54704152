//===- ProductCosts.cpp - Costs of matrix products -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

int64_t LinearOp::getFlops() {
  return 2 * countElements(getResult()) * lastDim(getInput());
}

int64_t LinearWeightGradOp::getFlops() {
  return 2 * countElements(getCotangent()) * lastDim(getInput());
}

int64_t BatchMatmulOp::getFlops() {
  ArrayRef<int64_t> shape = getLhs().getType().getShape();
  int64_t inner = shape[shape.size() - (getTransposeLhs() ? 2 : 1)];
  return 2 * countElements(getResult()) * inner;
}
