//===- CoordinateRules.h - What ops do to coordinate functions --*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_COORDINATERULES_H
#define SMP_LIB_IMPORT_COORDINATERULES_H

#include "Coordinates.h"
#include "smp/IR/SmpDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace smp {

/// Evaluates the integer and bool tensors of a block, in the order of its ops.
/// Every shape must be static.
class CoordinateEvaluator {
public:
  explicit CoordinateEvaluator(mlir::Block &block);

  /// Unknown for what depends on data, and for floating tensors.
  const Elements &of(mlir::Value value) const;

private:
  llvm::DenseMap<mlir::Value, Elements> values;
};

/// A rule computes the elements of an op's first result from those of its
/// operands.
using CoordinateRule = Elements (*)(mlir::Operation *op,
                                    llvm::ArrayRef<Elements> operands);

/// Null for an op without a rule, whose result is unknown.
CoordinateRule coordinateRuleFor(llvm::StringRef opName);

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

inline llvm::ArrayRef<int64_t> resultShape(mlir::Operation *op) {
  return shapeOf(op->getResult(0));
}

inline bool isBoolean(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType())
      .getElementType()
      .isInteger(1);
}

//===----------------------------------------------------------------------===//
// Rules of constants and moves
//===----------------------------------------------------------------------===//

Elements evaluateFill(mlir::Operation *op, llvm::ArrayRef<Elements> operands);
Elements evaluateIota(mlir::Operation *op, llvm::ArrayRef<Elements> operands);
Elements evaluateConstant(mlir::Operation *op,
                          llvm::ArrayRef<Elements> operands);
Elements evaluateExpand(mlir::Operation *op, llvm::ArrayRef<Elements> operands);
Elements evaluateReshape(mlir::Operation *op,
                         llvm::ArrayRef<Elements> operands);
Elements evaluateTranspose(mlir::Operation *op,
                           llvm::ArrayRef<Elements> operands);
Elements evaluateSlice(mlir::Operation *op, llvm::ArrayRef<Elements> operands);
Elements evaluateConcat(mlir::Operation *op, llvm::ArrayRef<Elements> operands);
Elements evaluateIndex(mlir::Operation *op, llvm::ArrayRef<Elements> operands);
Elements evaluateGather(mlir::Operation *op, llvm::ArrayRef<Elements> operands);

} // namespace smp

#endif // SMP_LIB_IMPORT_COORDINATERULES_H
