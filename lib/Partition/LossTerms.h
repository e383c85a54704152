//===- LossTerms.h - What a loss is the weighted sum of --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loss of a model is a weighted sum of terms that parts of a batch add up
// to: means (`smp.mean_loss`), sums over rows, and penalties times the part's
// share of the batch, which is a mean too.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_LOSSTERMS_H
#define SMP_LIB_PARTITION_LOSSTERMS_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

struct LossTerm {
  std::string name;
  mlir::Value value; ///< in the loss: the mean, or the sum itself
  mlir::Value sum;
  mlir::Value count; ///< null for a sum
  /// A penalty's share of the batch: no sample decides it.
  bool isShare = false;
};

/// The results of a graph that are its loss.
mlir::SmallVector<mlir::Value> lossesOf(mlir::func::FuncOp graph);

/// The terms of the losses of a graph. Fails, without a message, where samples
/// reach a loss in another way.
llvm::FailureOr<mlir::SmallVector<LossTerm>>
findLossTerms(mlir::func::FuncOp graph);

} // namespace smp

#endif // SMP_LIB_PARTITION_LOSSTERMS_H
