//===- ChunkGradient.h - Forward and backward of one chunk ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the forward function of a chunk into one that keeps what its backward
// needs, and builds that. Before and after, shortened:
//
//   func @chunk1_forward(%w: <parameter, "w">, %v: <activation, "v0">,
//                        %y: <input, "labels">) -> <loss, "loss">
//
//   func @chunk1_forward(..., %n: <count, "loss">, %l: <loss, "loss">)
//       -> (<loss, "loss">, <saved, "0">)
//   func @chunk1_backward(%g: <gradient, "w">, %s: <saved, "0">, ...)
//       -> (<cotangent, "v0">, <gradient, "w">)
//
// Losses are means over a whole step: the count of a term becomes an argument
// that holds the step's. Gradients and losses are added to what they were, so
// that microbatches accumulate in the order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_CHUNKGRADIENT_H
#define SMP_LIB_AUTODIFF_CHUNKGRADIENT_H

#include "Backpropagation.h"
#include "Parameters.h"
#include "smp/Autodiff/ProgramBuilder.h"
#include "smp/Autodiff/SavedValues.h"

#include "llvm/ADT/StringSet.h"

namespace smp {

class ChunkGradient {
public:
  ChunkGradient(mlir::func::FuncOp forward, const ParameterTable &parameters)
      : forward(forward), parameters(parameters) {}

  /// Finds the active values. `activations` holds the keys of the active
  /// activations of earlier chunks; those of this one are added. Call it for
  /// the chunks in order.
  mlir::LogicalResult prepare(llvm::StringSet<> &activations);

  /// Builds the backward function. `cotangents` holds the keys of the
  /// activations that the next chunk gives cotangents of, and gets those that
  /// this chunk gives. Call it for the chunks from the last to the first.
  mlir::FailureOr<mlir::func::FuncOp> build(mlir::ModuleOp module,
                                            llvm::StringRef name,
                                            llvm::StringSet<> &cotangents);

private:
  mlir::LogicalResult divideByStepCounts();
  void seed(Backpropagation &sweep, ProgramBuilder &backward,
            const llvm::StringSet<> &cotangents);
  void addBackwardResults(Backpropagation &sweep, ProgramBuilder &backward,
                          llvm::StringSet<> &cotangents);
  void localise(ProgramBuilder &backward);
  mlir::Value localiseValue(mlir::Value value, ProgramBuilder &backward,
                            mlir::OpBuilder &builder);
  mlir::Value addForwardArgument(BindingKind kind, llvm::StringRef key,
                                 mlir::Type type);
  void accumulateLosses();
  mlir::LogicalResult returnSavedValues();

  mlir::Block &body() { return forward.getBody().front(); }
  mlir::Operation *terminator() { return body().getTerminator(); }

  mlir::func::FuncOp forward;
  const ParameterTable &parameters;
  Activity activity;
  RecomputePolicy policy;
  /// Values of the forward function in the backward function.
  llvm::DenseMap<mlir::Value, mlir::Value> local;
  mlir::SmallVector<mlir::Value> saved;
};

} // namespace smp

#endif // SMP_LIB_AUTODIFF_CHUNKGRADIENT_H
