//===- Steps.h - The runners of the phases ----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_STEPS_H
#define SMP_LIB_INTERPRET_STEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "smp/Interpret/StepRunner.h"

namespace smp::interpret {

/// A module with @train.
llvm::FailureOr<std::unique_ptr<StepRunner>>
createWholeRunner(mlir::ModuleOp module, ModelState model, StepOptions options);

/// A copy of a module of chunks with one function made of the chunks' programs:
/// @train of `forward`, @eval of `evaluate` or @predict of `predict`.
llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
joinChunks(mlir::ModuleOp module, llvm::StringRef graph);

/// A module of chunks and ranks, with a schedule or without.
llvm::FailureOr<std::unique_ptr<StepRunner>>
createProgramRunner(mlir::ModuleOp module, ModelState model,
                    StepOptions options);

/// The names of a parameter, the canonical one first.
std::vector<std::string> allNames(ParameterOp parameter);

/// Sums gradients of aliases in name order.
TensorMap sumAliases(mlir::ModuleOp module, const TensorMap &aliasGradients);

/// Clips and applies `gradients` as the configuration says; the reference of
/// the update that `differentiate` builds. Returns the norm before clipping.
double applyUpdate(mlir::ModuleOp module, const TensorMap &gradients,
                   const StepOptions &options, const StepState &step,
                   ModelState &model);

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_STEPS_H
