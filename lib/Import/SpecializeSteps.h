//===- SpecializeSteps.h - The steps of specialize --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_SPECIALIZESTEPS_H
#define SMP_LIB_IMPORT_SPECIALIZESTEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

/// Sizes for the dims of symbolic size: dim 0, and others.
struct SymbolicSizes {
  int64_t rows = 0;
  int64_t sequence = 0;
};

/// Gives arguments static shapes and propagates them through the function.
llvm::LogicalResult inferStaticShapes(mlir::func::FuncOp function,
                                      const SymbolicSizes &sizes);

/// Replaces integer and bool tensors that are constants or positions.
void foldCoordinates(mlir::func::FuncOp function);

/// Replaces integers that are computed from constants through floating numbers.
llvm::LogicalResult foldConstants(mlir::func::FuncOp function);

/// Turns mask operands of attention into mask attributes where they say no
/// more than one can.
void foldAttentionMasks(mlir::func::FuncOp function);

/// Checks that only smp and func ops of static shape are left.
llvm::LogicalResult verifySpecialized(mlir::func::FuncOp function);

} // namespace smp

#endif // SMP_LIB_IMPORT_SPECIALIZESTEPS_H
