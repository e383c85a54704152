//===- ElementwiseOps.cpp - Inference and folds of elementwise ops -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/ElementwiseOps.cpp.inc"

void SmpDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ElementwiseOps.cpp.inc"
      >();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(tensorType(adaptor.getLhs()).getShape(),
                                        IntegerType::get(context, 1)));
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand())
                                             : OpFoldResult();
}
