//===- RandomGradients.cpp - Gradients of ops that draw random numbers ---===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

using namespace mlir;
using namespace smp;

LogicalResult DropoutOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> cotangents,
                                       ArrayRef<bool> wanted,
                                       MutableArrayRef<Value> gradients) {
  // The same site draws the same numbers.
  GradientBuilder b(builder, *this);
  gradients[0] = b.create<DropoutOp>(cotangents[0], getProbabilityAttr(),
                                     getSiteAttr(), getRowsPerSampleAttr());
  return success();
}

void DropoutOp::getSavedValues(ArrayRef<bool> wanted,
                               SmallVectorImpl<Value> &saved) {}
