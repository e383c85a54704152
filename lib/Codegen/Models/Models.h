//===- Models.h - Attaching the code of ops ---------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_CODEGEN_MODELS_MODELS_H
#define SMP_LIB_CODEGEN_MODELS_MODELS_H

#include "smp/Codegen/KernelEmitter.h"

namespace smp::codegen {

/// An op whose result element is `formula(op, emitter, operand elements)`, all
/// at the same place.
template <typename OpT>
struct ElementwiseModel
    : PointwiseOpInterface::ExternalModel<ElementwiseModel<OpT>, OpT> {
  void emitElements(mlir::Operation *op, KernelEmitter &emitter,
                    const Index &index,
                    llvm::SmallVectorImpl<mlir::Value> &results) const {
    llvm::SmallVector<mlir::Value, 4> operands;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(emitter.at(operand, index));
    results.push_back(formula(mlir::cast<OpT>(op), emitter,
                              llvm::ArrayRef<mlir::Value>(operands)));
  }
  bool needsCoordinates(mlir::Operation *) const { return false; }
};

template <typename... OpTs> void attachElementwise(mlir::MLIRContext *context) {
  (OpTs::template attachInterface<ElementwiseModel<OpTs>>(*context), ...);
}

/// An op whose result is its operand somewhere else: `move(op, emitter, index)`
/// is the element.
template <typename OpT>
struct MoveModel : PointwiseOpInterface::ExternalModel<MoveModel<OpT>, OpT> {
  void emitElements(mlir::Operation *op, KernelEmitter &emitter,
                    const Index &index,
                    llvm::SmallVectorImpl<mlir::Value> &results) const {
    results.push_back(move(mlir::cast<OpT>(op), emitter, index));
  }
  bool isMove(mlir::Operation *) const { return true; }
};

template <typename... OpTs> void attachMoves(mlir::MLIRContext *context) {
  (OpTs::template attachInterface<MoveModel<OpTs>>(*context), ...);
}

//===--- Parts of formulas
//--------------------------------------------------===//

inline mlir::Value addF(KernelEmitter &e, mlir::Value a, mlir::Value b) {
  return mlir::arith::AddFOp::create(e.b, a, b);
}
inline mlir::Value subF(KernelEmitter &e, mlir::Value a, mlir::Value b) {
  return mlir::arith::SubFOp::create(e.b, a, b);
}
inline mlir::Value mulF(KernelEmitter &e, mlir::Value a, mlir::Value b) {
  return mlir::arith::MulFOp::create(e.b, a, b);
}
inline mlir::Value divF(KernelEmitter &e, mlir::Value a, mlir::Value b) {
  return mlir::arith::DivFOp::create(e.b, a, b);
}
/// a · b + c, rounded once.
mlir::Value fma(KernelEmitter &e, mlir::Value a, mlir::Value b, mlir::Value c);
mlir::Value exp(KernelEmitter &e, mlir::Value a);
mlir::Value log(KernelEmitter &e, mlir::Value a);
mlir::Value sqrt(KernelEmitter &e, mlir::Value a);
mlir::Value sigmoid(KernelEmitter &e, mlir::Value a);
/// A constant of the type of `like`.
mlir::Value number(KernelEmitter &e, double value, mlir::Value like);

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Rows of the last dim: their number and length.
struct Rows {
  int64_t count, width;
  explicit Rows(mlir::Value tensor) {
    auto type = tensorType(tensor);
    width = type.getRank() ? type.getShape().back() : 1;
    count = width ? type.getNumElements() / width : 0;
  }
  /// Rows of about `elements` elements, in one tile.
  int64_t perTile(int64_t elements = 16384) const {
    return std::max<int64_t>(1, elements / std::max<int64_t>(1, width));
  }
  int64_t tiles(int64_t elements = 16384) const {
    return (count + perTile(elements) - 1) / perTile(elements);
  }
};

/// The index of a place in a row, and of the row in a tensor that has one
/// element for each.
Index placeInRow(KernelEmitter &e, mlir::Value row, const Rows &rows,
                 const Coordinate &place);
Index rowIndex(KernelEmitter &e, mlir::Value row);

/// The numbers in [0, 1) of one element of each lane.
mlir::Value uniformNumbers(KernelEmitter &e, mlir::Value site,
                           const Coordinate &sample, const Coordinate &element);
/// What dropout multiplies the elements at a row-major position with, as f32.
mlir::Value dropoutFactor(KernelEmitter &e, mlir::Value site,
                          int64_t elementsPerSample, const Coordinate &position,
                          double probability);

} // namespace smp::codegen

#endif // SMP_LIB_CODEGEN_MODELS_MODELS_H
