//===- VerifyUtils.cpp - Checks that several ops share -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace smp;

bool smp::compatibleShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return compatibleSizes(std::get<0>(pair), std::get<1>(pair));
         });
}

std::string smp::shapeString(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printSize = [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      os << "?";
    else
      os << size;
  };
  llvm::interleave(shape, os, printSize, "x");
  return text.empty() ? "()" : text;
}

LogicalResult smp::verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim < 0 || dim >= rank)
    return op->emitOpError()
           << "expects dim in [0, " << rank << "), got " << dim;
  return success();
}

LogicalResult smp::verifyShape(Operation *op, StringRef what, Value value,
                               ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (compatibleShapes(shape, expected))
    return success();
  return op->emitOpError() << "expects " << what << " of shape "
                           << shapeString(expected) << ", got "
                           << shapeString(shape);
}

LogicalResult smp::verifySizes(Operation *op, RankedTensorType type,
                               size_t sizes) {
  if (size_t(type.getNumDynamicDims()) != sizes)
    return op->emitOpError()
           << "expects one size for each of the " << type.getNumDynamicDims()
           << " dynamic dims of the result, got " << sizes;
  return success();
}
