//===- CostUtils.h - Sizes that costs are made of -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_COST_COSTUTILS_H
#define SMP_LIB_COST_COSTUTILS_H

#include "smp/IR/SmpDialect.h"

namespace smp {

/// Number of elements of a tensor; dynamic dims count as one.
int64_t countElements(mlir::Value value);

/// Bytes of a tensor as it lies in memory: an `i1` takes a byte.
int64_t countBytes(mlir::Value value);

/// Size of the last dim.
int64_t lastDim(mlir::Value value);

} // namespace smp

#endif // SMP_LIB_COST_COSTUTILS_H
