//===- Gradient.h - Reverse differentiation inside a function ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients of a function that `differentiate` has not treated yet: the ops'
// own gradients, chained inside one function, nothing saved, nothing split.
// The interpreter uses it for modules of early phases; the gradients of ops are
// tested with it.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_GRADIENT_H
#define SMP_INTERPRET_GRADIENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "smp/IR/SmpDialect.h"

namespace smp::interpret {

/// Builds, before the terminator of `function`, the gradients of `targets`
/// given the `cotangents` of `outputs`. A gradient is null where no path leads
/// from the target to an output. Cotangents of a value are added in the order
/// of its uses, last use first.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildGradients(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Value> outputs,
               llvm::ArrayRef<mlir::Value> cotangents,
               llvm::ArrayRef<mlir::Value> targets);

/// Zeros, or another number, of the type of `like`; dynamic sizes are read
/// from it.
mlir::Value fillLike(mlir::OpBuilder &builder, mlir::Value like, double value);

} // namespace smp::interpret

#endif // SMP_INTERPRET_GRADIENT_H
