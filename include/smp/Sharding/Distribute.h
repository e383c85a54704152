//===- Distribute.h - From layouts to collectives ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SHARDING_DISTRIBUTE_H
#define SMP_SHARDING_DISTRIBUTE_H

#include "smp/IR/SmpDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace smp {

/// Name of the module attribute with the number of pp ranks.
inline constexpr llvm::StringLiteral kPipelineDegreeAttr = "smp.pp";

/// Turns every reshard of `module` into collectives (see the pass
/// `smp-distribute`); none is left when it succeeds.
mlir::LogicalResult distribute(mlir::ModuleOp module);

} // namespace smp

#endif // SMP_SHARDING_DISTRIBUTE_H
