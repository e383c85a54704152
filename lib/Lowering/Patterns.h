//===- Patterns.h - Families of decompositions ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_LOWERING_PATTERNS_H
#define SMP_LIB_LOWERING_PATTERNS_H

#include "smp/IR/SmpDialect.h"

#include "mlir/IR/PatternMatch.h"

namespace smp {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Convolutions to library commands.
void addConvolutionPatterns(mlir::RewritePatternSet &patterns);
/// Batch norms to reductions and elementwise ops.
void addBatchNormPatterns(mlir::RewritePatternSet &patterns);

} // namespace smp

#endif // SMP_LIB_LOWERING_PATTERNS_H
