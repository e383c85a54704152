//===- IndexCosts.cpp - Costs of choices by index: only what is chosen is read
//===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

int64_t EmbeddingOp::getFlops() { return 0; }

int64_t GatherOp::getFlops() { return 0; }

int64_t IndexOp::getFlops() { return 0; }

int64_t EmbeddingGradOp::getFlops() { return countElements(getCotangent()); }

int64_t GatherGradOp::getFlops() { return countElements(getCotangent()); }

int64_t EmbeddingOp::getBytes() {
  return countBytes(getIndices()) + 2 * countBytes(getResult());
}

int64_t GatherOp::getBytes() {
  return countBytes(getIndices()) + 2 * countBytes(getResult());
}

int64_t IndexOp::getBytes() {
  int64_t bytes = 2 * countBytes(getResult());
  for (Value indices : getIndices())
    bytes += countBytes(indices);
  return bytes;
}
