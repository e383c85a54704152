//===- Execute.h - Runs functions on tensors --------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function is run op by op. At an op that several ranks run together it
// stops; `executeTogether` runs the functions of several virtual ranks, which
// need not be the same, and lets them pass such ops when all members of the
// group have arrived.
//
//   FunctionRun rank0(program0, args0, context0), rank1(program1, ...);
//   executeTogether({{&rank0, {0,0,0}}, {&rank1, {1,0,0}}}, grid)
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_EXECUTE_H
#define SMP_INTERPRET_EXECUTE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "smp/Interpret/Interpretable.h"

namespace smp::interpret {

/// One execution of a function by one rank.
class FunctionRun {
public:
  /// Reports arguments that do not fit the function's type by `advance`.
  FunctionRun(mlir::func::FuncOp function, std::vector<Tensor> arguments,
              Context context);

  /// Runs until the end or the next op that several ranks run together.
  llvm::LogicalResult advance();
  bool done() const { return finished; }
  /// The op that waits for other ranks.
  CollectiveOpInterface waitingAt() const { return waiting; }
  /// What this rank gives to it, and what it gets.
  const Tensor &contribution() const;
  llvm::LogicalResult resume(Tensor result);

  /// After the end, the values that the function returned.
  const std::vector<Tensor> &results() const { return returned; }
  mlir::func::FuncOp function() const { return program; }

private:
  llvm::LogicalResult bindArguments();
  llvm::LogicalResult execute(mlir::Operation *op);
  llvm::LogicalResult define(mlir::Operation *op,
                             llvm::MutableArrayRef<Tensor> results);
  void gather(mlir::ValueRange operands, llvm::SmallVectorImpl<Tensor> &into);

  mlir::func::FuncOp program;
  std::vector<Tensor> arguments;
  Context context;
  llvm::DenseMap<mlir::Value, Tensor> values;
  llvm::DenseMap<mlir::Value, unsigned> pendingUses;
  mlir::Block::iterator next;
  CollectiveOpInterface waiting;
  std::vector<Tensor> returned;
  bool started = false, finished = false;
};

/// A run and the position of its rank.
struct RankRun {
  FunctionRun *run;
  Coordinate coordinate;
};

/// Runs each until its end or a collective op, then passes the collective ops
/// whose members have all arrived; whether there were any.
llvm::FailureOr<bool> advanceTogether(llvm::ArrayRef<RankRun> runs,
                                      const Grid &grid);

/// Runs all to their ends. Fails with a diagnostic where an op fails, or where
/// ranks wait for others that never come.
llvm::LogicalResult executeTogether(llvm::ArrayRef<RankRun> runs,
                                    const Grid &grid);

/// Runs a function alone: the grid has one rank.
llvm::FailureOr<std::vector<Tensor>> execute(mlir::func::FuncOp function,
                                             std::vector<Tensor> arguments,
                                             const Context &context = {});

} // namespace smp::interpret

#endif // SMP_INTERPRET_EXECUTE_H
