//===- VerifyUtils.cpp - Checks that several ops share -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APSInt.h"
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

LogicalResult smp::verifyBias(Operation *op, Value bias,
                              ArrayRef<int64_t> scores) {
  if (!bias)
    return success();
  ArrayRef<int64_t> shape = tensorType(bias).getShape();
  bool fits = shape.size() == scores.size() &&
              llvm::all_of(llvm::zip(shape, scores), [](auto pair) {
                return std::get<0>(pair) == 1 ||
                       compatibleSizes(std::get<0>(pair), std::get<1>(pair));
              });
  if (!fits)
    return op->emitOpError()
           << "expects a bias that broadcasts to " << shapeString(scores)
           << ", got " << shapeString(shape);
  return success();
}

LogicalResult smp::verifyProbability(Operation *op,
                                     const APFloat &probability) {
  double value = probability.convertToDouble();
  if (!(value >= 0.0 && value < 1.0))
    return op->emitOpError()
           << "expects a dropout probability in [0, 1), got " << value;
  return success();
}

LogicalResult smp::verifyFinite(Operation *op, StringRef what,
                                const APFloat &number) {
  if (!number.isFinite())
    return op->emitOpError() << "expects a finite " << what << ", got "
                             << number.convertToDouble();
  return success();
}

LogicalResult smp::verifyNotNegative(Operation *op, StringRef what,
                                     const APFloat &number) {
  if (!number.isFinite() || number.convertToDouble() < 0)
    return op->emitOpError()
           << "expects a finite " << what << " that is not negative, got "
           << number.convertToDouble();
  return success();
}

LogicalResult smp::verifyNotNegative(Operation *op, StringRef what,
                                     int64_t number) {
  if (number < 0)
    return op->emitOpError()
           << "expects a " << what << " that is not negative, got " << number;
  return success();
}

LogicalResult smp::verifyHolds(Operation *op, Type element,
                               const APFloat &number) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type)
    return success();
  // Elements of i1 and i8 are unsigned.
  bool isSigned = type.getWidth() > 8;
  llvm::APSInt integer(type.getWidth(), /*isUnsigned=*/!isSigned);
  bool exact = false;
  number.convertToInteger(integer, APFloat::rmTowardZero, &exact);
  // What is not exact includes what is too large; -0 is 0.
  if (!exact && !number.isZero())
    return op->emitOpError() << "expects a number that " << element
                             << " holds, got " << number.convertToDouble();
  return success();
}

LogicalResult smp::verifyElementTypes(Operation *op, StringRef what,
                                      ValueRange values) {
  Type expected = getElementTypeOrSelf(values.front());
  for (Value value : values.drop_front())
    if (getElementTypeOrSelf(value) != expected)
      return op->emitOpError() << "expects " << what << " of one element type, "
                               << "got " << values.front().getType() << " and "
                               << value.getType();
  return success();
}
