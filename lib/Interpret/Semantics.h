//===- Semantics.h - How the semantics of ops are written -------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The semantics of an op is one function
//
//   static Tensor evaluate(NegOp op, Operands in, Context &context);
//
// in the file of its family, where the result is a `Tensor` or `Results` (ops
// with several), as `FailureOr` where elements may have no meaning.
// `attach<NegOp, ...>(context)` makes these functions the ops' models of
// `InterpretableOpInterface`.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_SEMANTICS_H
#define SMP_LIB_INTERPRET_SEMANTICS_H

#include "mlir/IR/MLIRContext.h"
#include "smp/Interpret/Interpretable.h"

namespace smp::interpret {

using Operands = llvm::ArrayRef<Tensor>;
using Results = llvm::SmallVector<Tensor, 3>;

inline llvm::LogicalResult append(llvm::SmallVectorImpl<Tensor> &results,
                                  Tensor result) {
  results.push_back(std::move(result));
  return llvm::success();
}
inline llvm::LogicalResult append(llvm::SmallVectorImpl<Tensor> &results,
                                  const Results &several) {
  results.append(several);
  return llvm::success();
}
template <typename Outcome>
llvm::LogicalResult append(llvm::SmallVectorImpl<Tensor> &results,
                           llvm::FailureOr<Outcome> result) {
  if (failed(result))
    return llvm::failure();
  return append(results, std::move(*result));
}

/// The model of `OpTy` that calls `evaluate`, found by its arguments' types.
template <typename OpTy>
struct EvaluateModel
    : InterpretableOpInterface::ExternalModel<EvaluateModel<OpTy>, OpTy> {
  llvm::LogicalResult interpret(mlir::Operation *op,
                                llvm::ArrayRef<Tensor> operands,
                                llvm::SmallVectorImpl<Tensor> &results,
                                Context &context) const {
    return append(results, evaluate(llvm::cast<OpTy>(op), operands, context));
  }
};

template <typename... Ops> void attach(mlir::MLIRContext *context) {
  (Ops::template attachInterface<EvaluateModel<Ops>>(*context), ...);
}

/// The shape of a type whose dynamic dims are `sizes`, in order.
Shape shapeOf(mlir::Type type, Operands sizes = {});

/// The element type of a value.
DataType elementTypeOf(mlir::Value value);

/// Runs the ops of a block on its arguments; the operands of its terminator.
/// None of the ops may be collective.
llvm::FailureOr<Results> runBlock(mlir::Block &block, Operands arguments,
                                  Context &context);

// One for each file of semantics.
void attachActionSemantics(mlir::MLIRContext *context);
void attachElementwiseSemantics(mlir::MLIRContext *context);
void attachActivationSemantics(mlir::MLIRContext *context);
void attachShapeSemantics(mlir::MLIRContext *context);
void attachReductionSemantics(mlir::MLIRContext *context);
void attachProductSemantics(mlir::MLIRContext *context);
void attachNormSemantics(mlir::MLIRContext *context);
void attachAttentionSemantics(mlir::MLIRContext *context);
void attachBatchNormSemantics(mlir::MLIRContext *context);
void attachConvolutionSemantics(mlir::MLIRContext *context);
void attachIndexSemantics(mlir::MLIRContext *context);
void attachLossSemantics(mlir::MLIRContext *context);
void attachLoweredSemantics(mlir::MLIRContext *context);
void attachRandomSemantics(mlir::MLIRContext *context);
void attachOptimizerSemantics(mlir::MLIRContext *context);
void attachDistributionSemantics(mlir::MLIRContext *context);
void attachProgramSemantics(mlir::MLIRContext *context);
void attachArithSemantics(mlir::MLIRContext *context);

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_SEMANTICS_H
