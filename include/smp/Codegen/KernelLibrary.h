//===- KernelLibrary.h - The distinct kernels of a job ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns clusters into kernels. Clusters with equal bodies share one: what
// differs between their uses (random sites, the length of a flat range) is
// passed as immediates. Equality is decided on the structure before any code is
// made, so that the number of kernels, and compile time, do not grow with the
// number of layers.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_CODEGEN_KERNELLIBRARY_H
#define SMP_CODEGEN_KERNELLIBRARY_H

#include "smp/IR/SmpDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace smp::codegen {

/// How a command calls a kernel. Its buffers are the cluster's operands, then
/// the results that do not take an operand's memory.
struct KernelUse {
  unsigned kernel = 0; ///< index into `symbols`
  std::vector<int64_t> immediates;
  int64_t tiles = 1;
};

class KernelLibrary {
public:
  explicit KernelLibrary(mlir::MLIRContext *context);

  /// The kernel of a cluster, made if there is none yet.
  KernelUse add(ClusterOp cluster);

  mlir::ModuleOp module() { return *kernels; }
  const std::vector<std::string> &symbols() const { return names; }

private:
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  std::vector<std::string> names;
  llvm::StringMap<unsigned> byStructure;
};

/// Whether the code of a cluster sees its elements as one range, whatever their
/// number and shape.
bool isFlat(ClusterOp cluster);
/// A text that is equal for clusters that can share a kernel.
std::string structureOf(ClusterOp cluster);

} // namespace smp::codegen

#endif // SMP_CODEGEN_KERNELLIBRARY_H
