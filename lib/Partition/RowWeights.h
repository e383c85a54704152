//===- RowWeights.h - Rows that no loss counts ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last batch of an epoch, and of an evaluation, may have fewer rows than
// the programs compute. The missing ones are padded, and a weight for each row,
// another input, keeps them out of sums and counts:
//
//   %sum = smp.reduce_sum %losses [0]
//   %mean = smp.mean_loss "loss" %sum by %n
// becomes
//   %own = smp.mul %losses, %counts        (1 where the row weighs anything)
//   %sum = smp.reduce_sum %own [0]
//   %rows = smp.reduce_sum %counts [0]
//   %mean = smp.mean_loss "loss" %sum by %rows
//
// The labels of a cross-entropy become the ignored one.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_ROWWEIGHTS_H
#define SMP_LIB_PARTITION_ROWWEIGHTS_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

/// Leaves rows of weight 0 out of the loss of a graph of `rows` rows, which has
/// a chunk for each op; a graph that does so already stays as it is. Returns
/// whether it could: not where a term is no sum over rows, or where rows change
/// each other's values, as padded ones would then change the others.
bool weighRows(mlir::func::FuncOp graph, int64_t rows);

} // namespace smp

#endif // SMP_LIB_PARTITION_ROWWEIGHTS_H
