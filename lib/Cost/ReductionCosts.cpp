//===- ReductionCosts.cpp - Costs of reductions: one operation an element ===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

int64_t ReduceSumOp::getFlops() { return countElements(getOperand()); }

int64_t ReduceMaxOp::getFlops() { return countElements(getOperand()); }
