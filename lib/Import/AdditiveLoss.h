//===- AdditiveLoss.h - A loss that parts of a batch add up to --*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each microbatch of each replica computes the loss of its samples, and these
// are added. Sums over samples add up to that of the whole batch, and so do
// means (`smp.mean_loss`). Two kinds of terms do not:
//
// - what no sample reaches, such as a penalty on weights, would be added once
//   for each part. It is multiplied by the part's share of the batch:
//
//     %loss = smp.add %task, %penalty
//   becomes
//     %share = smp.mean_loss "loss_1" %rows by %count   (rows / all rows)
//     %part = smp.mul %penalty, %share
//     %loss = smp.add %task, %part
//
// - what is not linear in such sums, such as their square root or product, has
//   no parts. It is an error.
//
// What is linear the ops say themselves: the gradient reads nothing that
// depends on the samples. A mean that the model computes with, and does not add
// to its loss, is no term: it becomes the sum by the count of the part.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_ADDITIVELOSS_H
#define SMP_LIB_IMPORT_ADDITIVELOSS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

/// Makes the results of role `loss` sums over parts of the batch. `fixedBatch`
/// is the number of rows where the graph fixes it, else 0.
llvm::LogicalResult makeLossAdditive(mlir::func::FuncOp function,
                                     int64_t fixedBatch);

} // namespace smp

#endif // SMP_LIB_IMPORT_ADDITIVELOSS_H
