//===- OpGroups.h - What a partition keeps together -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_OPGROUPS_H
#define SMP_LIB_PARTITION_OPGROUPS_H

#include "CloneableValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace smp {

/// Ops of one module path that follow each other.
struct OpGroup {
  std::string path;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The groups of a graph, in its order. Ops that each chunk makes for itself
/// and reads of parameters belong to none: they go where they are used.
///
/// What is computed of parameters alone, far behind the modules that they are
/// of, as a penalty at the end of the loss is, belongs to the first group that
/// has all of them: else these modules could not be cut apart, for a parameter
/// is in one chunk only.
struct OpGroups {
  std::vector<OpGroup> groups;
  llvm::DenseMap<mlir::Operation *, int> groupOf;

  static OpGroups collect(mlir::func::FuncOp graph, CloneableValues &cloneable);
};

} // namespace smp

#endif // SMP_LIB_PARTITION_OPGROUPS_H
