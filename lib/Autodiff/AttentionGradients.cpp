//===- AttentionGradients.cpp - Gradients of attention --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

LogicalResult AttentionOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> cotangents,
                                         ArrayRef<bool> wanted,
                                         MutableArrayRef<Value> gradients) {
  if (getBias() && wanted[3]) {
    InFlightDiagnostic diagnostic =
        emitError("expects a bias of attention that needs no gradient, got one "
                  "that depends on a trained parameter");
    diagnostic.attachNote(getBias().getLoc())
        << "freeze the parameters of the bias, or write the attention as "
           "products and a softmax";
    return diagnostic;
  }
  GradientBuilder b(builder, *this);
  auto grad = b.create<AttentionGradOp>(
      cotangents[0], getQuery(), getKey(), getValue(), getResult(), getLse(),
      getBias(), getMaskAttr(), getScaleAttr(), getDropoutAttr(),
      getSiteAttr());
  for (unsigned i = 0; i < 3; ++i)
    if (wanted[i])
      gradients[i] = grad.getResult(i);
  return success();
}

void AttentionOp::getSavedValues(ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &saved) {
  llvm::append_range(saved, getOperands());
  saved.append({getResult(), getLse()});
}
