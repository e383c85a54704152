//===- SavedValues.h - What a backward pass keeps ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients read values of the forward pass. Some of them need no memory
// between the passes: parameters and model inputs are still there, constants
// and moves of those are made again, and a reshape of a kept value is a view.
// Partitioning, the printed cost and `differentiate` share this decision.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_AUTODIFF_SAVEDVALUES_H
#define SMP_AUTODIFF_SAVEDVALUES_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace smp {

/// Decides what a backward pass makes again. Shapes must be static.
class RecomputePolicy {
public:
  /// Whether a value exists in the backward pass without being kept.
  bool isFree(mlir::Value value);

  /// Whether the op that defines `value` runs again in the backward pass: its
  /// operands are free, or it is a view.
  bool isRecomputed(mlir::Value value);

  /// Appends the values that are kept in order to have `value`.
  void appendKept(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &kept);

private:
  llvm::DenseMap<mlir::Value, bool> free;
};

/// Calls `visit` for each value that the backward pass of a function of a whole
/// model keeps, once, with the first op whose gradient reads it. The function
/// reads its parameters by `get_parameter`.
void forEachSavedValue(
    mlir::func::FuncOp function,
    llvm::function_ref<void(mlir::Operation *reader, mlir::Value saved)> visit);

} // namespace smp

#endif // SMP_AUTODIFF_SAVEDVALUES_H
