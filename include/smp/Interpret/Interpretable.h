//===- Interpretable.h - What ops compute -----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interfaces through which the interpreter runs ops, and what an op may
// know besides its operands. The semantics of the smp ops and of the index
// arithmetic between them are external models: a program that interprets calls
// `registerInterpreter` on its dialect registry.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_INTERPRETABLE_H
#define SMP_INTERPRET_INTERPRETABLE_H

#include "smp/IR/SmpDialect.h"
#include "smp/Interpret/Tensor.h"
#include "smp/Support/Grid.h"
#include "smp/Support/StepState.h"

namespace mlir {
class DialectRegistry;
}

namespace smp::interpret {

enum class Precision {
  Native, ///< each result is rounded to its written type
  F64     ///< every floating type is lifted to f64
};

/// What an op may know besides its operands.
struct Context {
  Precision precision = Precision::Native;
  /// Seed, step, sample offset, rates; the coordinate on the grid in `axis`.
  StepState step = {0, 0, 0, 0, {0, 0, 0}, 0, 1, 1, 1, 0};
  /// Read by `smp.get_parameter` and `smp.get_state`, by canonical name.
  const TensorMap *parameters = nullptr;
  const TensorMap *states = nullptr;
};

/// What the actions of a schedule ask for; by virtual rank.
class ActionRunner {
public:
  virtual ~ActionRunner() = default;
  virtual llvm::FailureOr<bool> launch(size_t rank, LaunchOp action) = 0;
  virtual llvm::FailureOr<bool> load(size_t rank, LoadOp action) = 0;
  virtual llvm::FailureOr<bool> send(size_t rank, SendOp action) = 0;
  virtual llvm::FailureOr<bool> receive(size_t rank, RecvOp action) = 0;
};

/// Attaches the semantics of all ops.
void registerInterpreter(mlir::DialectRegistry &registry);

/// The element type as the interpreter stores it; `index` is i64.
DataType dataTypeOf(mlir::Type elementType);

/// The elements of a constant.
llvm::FailureOr<Tensor> tensorOf(mlir::ElementsAttr elements);

} // namespace smp::interpret

#include "smp/Interpret/InterpretInterfaces.h.inc"

#endif // SMP_INTERPRET_INTERPRETABLE_H
