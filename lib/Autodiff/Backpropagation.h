//===- Backpropagation.h - The reverse sweep over a function ----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Visits ops from the last to the first and adds up the cotangents of their
// operands in this order: that of the last use first. The order is part of the
// numerical contract. A value that later chunks use too starts from their
// partial cotangent (`add` before `run`), so that the sum does not depend on
// where the model was cut.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_BACKPROPAGATION_H
#define SMP_LIB_AUTODIFF_BACKPROPAGATION_H

#include "Activity.h"

#include "llvm/ADT/DenseMap.h"

namespace smp {

class Backpropagation {
public:
  /// Gradient ops are built at the insertion point of `builder`.
  Backpropagation(mlir::OpBuilder &builder, const Activity &activity)
      : builder(builder), activity(activity) {}

  /// Adds to the cotangent of `value`, which `user` contributes.
  void add(mlir::Value value, mlir::Value cotangent,
           mlir::Operation *user = nullptr);

  /// The cotangent so far, or null.
  mlir::Value getCotangent(mlir::Value value) const {
    return cotangents.lookup(value);
  }

  /// Sweeps over `forward`, ops in forward order.
  mlir::LogicalResult run(mlir::ArrayRef<mlir::Operation *> forward);

private:
  mlir::LogicalResult visit(mlir::Operation *op);

  mlir::OpBuilder &builder;
  const Activity &activity;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
};

/// 1 in the type of `value`: the cotangent of what is differentiated.
mlir::Value createSeed(mlir::OpBuilder &builder, mlir::Value value);

} // namespace smp

#endif // SMP_LIB_AUTODIFF_BACKPROPAGATION_H
