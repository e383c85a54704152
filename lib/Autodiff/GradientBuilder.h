//===- GradientBuilder.h - Builds the ops of a gradient -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gradients have in common: every op they build has the location and the
// scope of the forward op, and elementwise ops take operands of one shape, so
// numbers are fills of a full shape.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_GRADIENTBUILDER_H
#define SMP_LIB_AUTODIFF_GRADIENTBUILDER_H

#include "smp/IR/SmpDialect.h"

namespace smp {

class GradientBuilder {
public:
  GradientBuilder(mlir::OpBuilder &builder, mlir::Operation *forward)
      : builder(builder), forward(forward) {}

  /// Builds an op that stands where the forward op stands in the model.
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    OpTy op =
        OpTy::create(builder, forward->getLoc(), std::forward<Args>(args)...);
    copyScope(forward, op);
    return op;
  }

  /// `value` everywhere, in the shape and element type of `like`.
  mlir::Value fill(mlir::Value like, double value);
  mlir::Value neg(mlir::Value operand) { return create<NegOp>(operand); }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return create<AddOp>(lhs, rhs);
  }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) {
    return create<SubOp>(lhs, rhs);
  }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) {
    return create<MulOp>(lhs, rhs);
  }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) {
    return create<DivOp>(lhs, rhs);
  }
  mlir::Value scale(mlir::Value operand, double factor) {
    return mul(operand, fill(operand, factor));
  }
  mlir::Value compare(ComparePredicate predicate, mlir::Value lhs,
                      mlir::Value rhs) {
    return create<CompareOp>(predicate, lhs, rhs);
  }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse) {
    return create<SelectOp>(condition, onTrue, onFalse);
  }
  /// `operand` in the shape of `like`; its dim `i` becomes dim `dims[i]`.
  mlir::Value expand(mlir::Value operand, mlir::Value like,
                     mlir::ArrayRef<int64_t> dims);
  /// `operand` in the shape of `like`, of as many elements.
  mlir::Value reshape(mlir::Value operand, mlir::Value like);
  /// `operand` summed over `dims`; itself when there are none.
  mlir::Value sum(mlir::Value operand, mlir::ArrayRef<int64_t> dims);

private:
  /// The sizes of the dynamic dims of `like`.
  mlir::SmallVector<mlir::Value> dynamicSizes(mlir::Value like);

  mlir::OpBuilder &builder;
  mlir::Operation *forward;
};

/// The dims of 0..rank-1 that are not in `dims`, in ascending order.
mlir::SmallVector<int64_t> complementDims(int64_t rank,
                                          mlir::ArrayRef<int64_t> dims);

} // namespace smp

#endif // SMP_LIB_AUTODIFF_GRADIENTBUILDER_H
