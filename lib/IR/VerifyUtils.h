//===- VerifyUtils.h - Checks that several ops share -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IR_VERIFYUTILS_H
#define SMP_LIB_IR_VERIFYUTILS_H

#include "smp/IR/SmpDialect.h"

namespace smp {

/// The type of a tensor value.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Whether two sizes may be equal at run time.
inline bool compatibleSizes(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) ||
         mlir::ShapedType::isDynamic(b);
}

/// Whether two shapes may be equal at run time.
bool compatibleShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// `type` with another shape.
inline mlir::RankedTensorType withShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

/// "2x?x64", for messages.
std::string shapeString(llvm::ArrayRef<int64_t> shape);

/// Checks `0 <= dim < rank`.
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim, int64_t rank);

/// Checks that `value` has the shape `expected`; `what` names it.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef what,
                                mlir::Value value,
                                llvm::ArrayRef<int64_t> expected);

/// Checks that a float or i1 bias broadcasts to the scores [B, H, S, T].
mlir::LogicalResult verifyBias(mlir::Operation *op, mlir::Value bias,
                               llvm::ArrayRef<int64_t> scores);

/// Checks `0 <= probability < 1`.
mlir::LogicalResult verifyProbability(mlir::Operation *op,
                                      const llvm::APFloat &probability);

/// Checks that a number, which `what` names, is neither infinite nor NaN.
mlir::LogicalResult verifyFinite(mlir::Operation *op, llvm::StringRef what,
                                 const llvm::APFloat &number);

/// Checks that a number, which `what` names, is finite and not below 0.
mlir::LogicalResult verifyNotNegative(mlir::Operation *op, llvm::StringRef what,
                                      const llvm::APFloat &number);
mlir::LogicalResult verifyNotNegative(mlir::Operation *op, llvm::StringRef what,
                                      int64_t number);

/// Checks that a double is an element of the type without being changed, where
/// the type is one of integers; floating types round.
mlir::LogicalResult verifyHolds(mlir::Operation *op, mlir::Type element,
                                const llvm::APFloat &number);

/// Checks that values, which `what` names, have one element type.
mlir::LogicalResult verifyElementTypes(mlir::Operation *op,
                                       llvm::StringRef what,
                                       mlir::ValueRange values);

/// Checks that an op has one size operand for each dynamic dim of its result.
mlir::LogicalResult verifySizes(mlir::Operation *op,
                                mlir::RankedTensorType type, size_t sizes);

} // namespace smp

#endif // SMP_LIB_IR_VERIFYUTILS_H
