//===- SmpDialect.h - The smp dialect -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SMPDIALECT_H
#define SMP_IR_SMPDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "smp/IR/ShardingRule.h"
#include "smp/IR/SmpDialect.h.inc"
#include "smp/IR/SmpEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "smp/IR/SmpAttrs.h.inc"

namespace smp {

/// Name of the attribute on arguments and results of programs (`BindingAttr`).
inline constexpr llvm::StringLiteral kBindingAttr = "smp.binding";
/// Name of the attribute on ops that holds the chunk that `partition` chose.
inline constexpr llvm::StringLiteral kChunkAttr = "smp.chunk";
/// Names of the attributes on arguments and results of model functions: the
/// user's name, and what it is for (`input`, `label`, `row_weight`; `loss`,
/// `output`).
inline constexpr llvm::StringLiteral kNameAttr = "smp.name";
inline constexpr llvm::StringLiteral kRoleAttr = "smp.role";
/// Name of the model input that holds the weight of each row, and its role:
/// rows of weight 0 are padding.
inline constexpr llvm::StringLiteral kRowWeight = "row_weight";

namespace detail {
/// One operation for each element of the first result.
int64_t defaultFlops(mlir::Operation *op);
/// The bytes of all operands and results.
int64_t defaultBytes(mlir::Operation *op);
} // namespace detail

} // namespace smp

#include "smp/IR/SmpInterfaces.h.inc"

namespace mlir {
class PatternRewriter; // What canonical forms are written with.
} // namespace mlir

#define GET_OP_CLASSES
#include "smp/IR/SmpOps.h.inc"

namespace smp {

/// Gives `to` the scope of `from`, where both are model ops and `to` has none.
void copyScope(mlir::Operation *from, mlir::Operation *to);

} // namespace smp

#endif // SMP_IR_SMPDIALECT_H
