//===- AffineNorm.h - Gradients of norms with weight and bias ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_AUTODIFF_AFFINENORM_H
#define SMP_LIB_AUTODIFF_AFFINENORM_H

#include "GradientBuilder.h"

namespace smp {

/// Of operand, weight and bias, as far as they are there; operands behind them
/// have no gradient.
template <typename GradOp, typename NormOp>
void buildAffineNormGradient(NormOp norm, mlir::OpBuilder &builder,
                             mlir::ArrayRef<mlir::Value> cotangents,
                             mlir::ArrayRef<bool> wanted,
                             mlir::MutableArrayRef<mlir::Value> gradients) {
  GradientBuilder b(builder, norm);
  auto grad =
      b.create<GradOp>(cotangents[0], norm.getOperand(), norm.getWeight(),
                       norm.getMean(), norm.getRstd());
  unsigned next = 0;
  if (wanted[next])
    gradients[next] = grad.getOperandGrad();
  if (norm.getWeight() && wanted[++next])
    gradients[next] = grad.getWeightGrad();
  if (norm.getBias() && wanted[++next])
    gradients[next] = grad.getBiasGrad();
}

template <typename NormOp>
void addSavedValuesOfNorm(NormOp norm,
                          mlir::SmallVectorImpl<mlir::Value> &saved) {
  saved.push_back(norm.getOperand());
  if (norm.getWeight())
    saved.push_back(norm.getWeight());
  saved.append({norm.getMean(), norm.getRstd()});
}

} // namespace smp

#endif // SMP_LIB_AUTODIFF_AFFINENORM_H
