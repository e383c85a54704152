//===- LossCosts.cpp - Costs of losses -----------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

// Maximum, difference, exponential and sum of each logit.
int64_t CrossEntropyOp::getFlops() { return 4 * countElements(getLogits()); }
