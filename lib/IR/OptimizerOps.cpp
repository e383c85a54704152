//===- OptimizerOps.cpp - Inference of optimizer ops -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/OptimizerOps.cpp.inc"

void SmpDialect::registerOptimizerOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/OptimizerOps.cpp.inc"
      >();
}

LogicalResult SumOfSquaresOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location>, Adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({1}, Float64Type::get(context)));
  return success();
}
