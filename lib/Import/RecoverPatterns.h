//===- RecoverPatterns.h - What composite patterns share --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_RECOVERPATTERNS_H
#define SMP_LIB_IMPORT_RECOVERPATTERNS_H

#include "smp/IR/SmpDialect.h"
#include "smp/IR/UniformValue.h"

#include "mlir/IR/PatternMatch.h"

namespace smp {

void populateRmsNormPatterns(mlir::RewritePatternSet &patterns);
void populateGeluPatterns(mlir::RewritePatternSet &patterns);
void populateRotaryPatterns(mlir::RewritePatternSet &patterns);
void populateAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateGroupedAttentionPatterns(mlir::RewritePatternSet &patterns);
void populateRowPatterns(mlir::RewritePatternSet &patterns);
void populateArithmeticPatterns(mlir::RewritePatternSet &patterns);

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Whether every element is `number`, but for the last digits of a double.
bool isUniform(mlir::Value value, double number);

/// The operand of an op of this kind, or null.
template <typename Op> mlir::Value operandOf(mlir::Value value) {
  auto op = value ? value.getDefiningOp<Op>() : Op();
  return op ? op->getOperand(0) : mlir::Value();
}

/// Splits a product or sum of two into the uniform operand and the other one;
/// null if none is uniform.
template <typename Op>
mlir::Value splitUniform(mlir::Value value, double &number) {
  auto op = value ? value.getDefiningOp<Op>() : Op();
  if (!op)
    return {};
  for (unsigned i : {0u, 1u})
    if (std::optional<double> found = uniformValue(op->getOperand(i))) {
      number = *found;
      return op->getOperand(1 - i);
    }
  return {};
}

/// The factors of a tree of products; uniform ones are multiplied together.
struct Product {
  double number = 1.0;
  llvm::SmallVector<mlir::Value> factors;
};
Product factorsOf(mlir::Value value);

/// Whether `value` is `base` to the power of 2 or 3, as a product or a power.
bool isPower(mlir::Value value, mlir::Value base, int exponent);

/// `value` without reshapes that add or drop a last dim of size 1.
mlir::Value withoutUnitDim(mlir::Value value);

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Creates an op at the place and with the scope of `anchor`.
template <typename Op, typename... Args>
Op createLike(mlir::PatternRewriter &rewriter, mlir::Operation *anchor,
              Args &&...args) {
  auto op = Op::create(rewriter, anchor->getLoc(), std::forward<Args>(args)...);
  copyScope(anchor, op);
  return op;
}

} // namespace smp

#endif // SMP_LIB_IMPORT_RECOVERPATTERNS_H
