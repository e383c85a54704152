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
  double probability = getProbability().convertToDouble();
  if (!(probability >= 0.0 && probability < 1.0)) // dropout_c1
    return emitOpError() << "expects a probability in [0, 1), got "
                         << probability;
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
