//===- ProgramBuilder.h - Builds closed functions with bindings -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs are found out while they are built: an argument appears when an op
// first needs it. The builder keeps arguments and results with what they stand
// for, and gives the function its type at the end.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_AUTODIFF_PROGRAMBUILDER_H
#define SMP_AUTODIFF_PROGRAMBUILDER_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace smp {

class ProgramBuilder {
public:
  /// Starts an empty function at the end of `module`.
  ProgramBuilder(mlir::ModuleOp module, llvm::StringRef name,
                 mlir::Location loc);

  /// Inserts at the end of the function.
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() { return function.getLoc(); }
  mlir::Region &getBody() { return function.getBody(); }

  /// The argument that stands for this, made on the first call.
  mlir::Value getArgument(BindingAttr binding, mlir::Type type);
  mlir::Value getArgument(BindingKind kind, llvm::StringRef key,
                          mlir::Type type);

  void addResult(BindingKind kind, llvm::StringRef key, mlir::Value value);

  /// Returns the results, and erases the ops that none of them needs.
  void addReturn();

  /// Gives the function its type and bindings; adds the return if need be.
  mlir::func::FuncOp finish();

private:
  void eraseUnusedArguments();

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  llvm::MapVector<BindingAttr, mlir::BlockArgument> arguments;
  mlir::SmallVector<std::pair<BindingAttr, mlir::Value>> results;
};

/// What an argument or result of a program stands for; null when not said.
BindingAttr getArgumentBinding(mlir::func::FuncOp function, unsigned index);
BindingAttr getResultBinding(mlir::func::FuncOp function, unsigned index);

/// Erases the pure ops of a block that nothing uses.
void eraseDeadOps(mlir::Block &block);

} // namespace smp

#endif // SMP_AUTODIFF_PROGRAMBUILDER_H
