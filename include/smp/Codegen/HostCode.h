//===- HostCode.h - Kernels to a shared object of the host ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_CODEGEN_HOSTCODE_H
#define SMP_CODEGEN_HOSTCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace smp::codegen {

/// What generated code may use: one of the x86-64 levels, so that a job made on
/// one machine runs on the next of its kind, and equal machines make equal
/// bytes.
struct HostTarget {
  std::string cpu;                   ///< "x86-64-v4", ...
  std::vector<std::string> features; ///< as /proc/cpuinfo spells them
};
HostTarget hostTarget();

/// Kernels in the dialects of the emitter to the llvm dialect: functions of
/// mathematics become polynomials, loops become branches.
llvm::LogicalResult lowerKernels(mlir::ModuleOp kernels);

/// Lowered kernels to a shared object at `path`. Errors are diagnostics on the
/// module.
llvm::LogicalResult writeSharedObject(mlir::ModuleOp kernels,
                                      const HostTarget &target,
                                      llvm::StringRef path);

} // namespace smp::codegen

#endif // SMP_CODEGEN_HOSTCODE_H
