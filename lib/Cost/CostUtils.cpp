//===- CostUtils.cpp - Sizes that costs are made of ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smp;

int64_t smp::countElements(Value value) {
  int64_t count = 1;
  for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
    if (!ShapedType::isDynamic(size))
      count *= size;
  return count;
}

int64_t smp::countBytes(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return countElements(value) *
         llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t smp::lastDim(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().back();
}
