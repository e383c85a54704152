//===- ShapeCosts.cpp - Costs of moves of elements: they compute nothing -===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

using namespace mlir;
using namespace smp;

int64_t ConstantOp::getFlops() { return 0; }

int64_t FillOp::getFlops() { return 0; }

int64_t IotaOp::getFlops() { return 0; }

int64_t ExpandOp::getFlops() { return 0; }

int64_t ReshapeOp::getFlops() { return 0; }

int64_t TransposeOp::getFlops() { return 0; }

int64_t SliceOp::getFlops() { return 0; }

int64_t PadOp::getFlops() { return 0; }

int64_t ConcatOp::getFlops() { return 0; }

// Other sizes for the same bytes: nothing moves.
int64_t ReshapeOp::getBytes() { return 0; }
