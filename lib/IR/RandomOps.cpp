//===- RandomOps.cpp - Checks of random ops -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/RandomOps.cpp.inc"

void SmpDialect::registerRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/RandomOps.cpp.inc"
      >();
}

LogicalResult DropoutOp::verify() {
  if (failed(verifyProbability(*this, getProbability()))) // dropout_c1
    return failure();
  if (getType().getRank() < 1) // dropout_c2
    return emitOpError("expects an operand whose first dim holds the samples, "
                       "got a scalar");
  int64_t rows = getRowsPerSample(), size = getType().getDimSize(0);
  bool divides = rows >= 1 && (ShapedType::isDynamic(size) || size % rows == 0);
  if (!divides) // dropout_c3
    return emitOpError() << "expects rows_per_sample to divide the "
                         << shapeString(size) << " rows, got " << rows;
  return success();
}

// Whatever is kept is divided by one, which changes nothing.
OpFoldResult DropoutOp::fold(FoldAdaptor) {
  return getProbability().isZero() ? OpFoldResult(getOperand())
                                   : OpFoldResult();
}

ShardingRule DropoutOp::getShardingRule() {
  return ShardingRule::ofEqualPlaces(*this);
}
