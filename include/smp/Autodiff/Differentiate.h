//===- Differentiate.h - Gradients of functions and of models ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_AUTODIFF_DIFFERENTIATE_H
#define SMP_AUTODIFF_DIFFERENTIATE_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace smp {

/// Where terms of the loss are not divided by their counts over the whole step
/// (`loss_normalization`): each microbatch's term is its own mean, divided by
/// this number and the number of data owners. An integer of the module.
inline constexpr llvm::StringLiteral kLossSharesAttr = "smp.loss_shares";

/// Builds the backward programs of the chunks and the programs of the ranks of
/// a staged module (see the pass `smp-differentiate`).
mlir::LogicalResult differentiateChunks(mlir::ModuleOp module);

/// Appends the gradients of the loss to the results of a function of a whole
/// model, which reads its parameters by `get_parameter` (see the pass
/// `smp-value-and-gradient`).
mlir::LogicalResult buildValueAndGradient(mlir::func::FuncOp function);

/// Builds what scalars grow by with each of the values `by`, from the
/// cotangents `seeds` of the scalars; null where they do not depend on it. All
/// are of one block, and the new ops come at the insertion point of `builder`.
mlir::LogicalResult
buildDerivatives(mlir::OpBuilder &builder, mlir::ArrayRef<mlir::Value> scalars,
                 mlir::ArrayRef<mlir::Value> seeds,
                 mlir::ArrayRef<mlir::Value> by,
                 mlir::SmallVectorImpl<mlir::Value> &derivatives);

} // namespace smp

#endif // SMP_AUTODIFF_DIFFERENTIATE_H
