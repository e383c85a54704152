//===- Activity.h - Which values gradients flow through ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is active when it depends on a root (a trained parameter, or an
// activation that depends on one) through real arithmetic. Only active operands
// are given gradients, so that frozen parameters and integers cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_ACTIVITY_H
#define SMP_LIB_AUTODIFF_ACTIVITY_H

#include "smp/IR/SmpDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace smp {

/// Whether a value has a cotangent at all: it is a tensor of floats.
bool isDifferentiableType(mlir::Type type);

class Activity {
public:
  void addRoot(mlir::Value root);

  /// Extends the roots through the ops of `block`, in order.
  void propagate(mlir::Block &block);

  bool isActive(mlir::Value value) const { return active.contains(value); }

  /// For each operand, whether it is active.
  mlir::SmallVector<bool> wantedOperands(mlir::Operation *op) const;

private:
  llvm::DenseSet<mlir::Value> active;
};

} // namespace smp

#endif // SMP_LIB_AUTODIFF_ACTIVITY_H
