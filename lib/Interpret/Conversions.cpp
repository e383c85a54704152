//===- Conversions.cpp - From types and constants to tensors --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

DataType interpret::dataTypeOf(Type elementType) {
  if (elementType.isF64())
    return DataType::F64;
  if (elementType.isF32())
    return DataType::F32;
  if (elementType.isBF16())
    return DataType::BF16;
  if (elementType.isF16())
    return DataType::F16;
  if (elementType.isInteger(1))
    return DataType::Bool;
  if (elementType.isInteger(8))
    return DataType::U8;
  if (elementType.isInteger(32))
    return DataType::I32;
  return DataType::I64;
}

DataType interpret::elementTypeOf(Value value) {
  return dataTypeOf(getElementTypeOrSelf(value.getType()));
}

Shape interpret::shapeOf(Type type, Operands sizes) {
  Shape shape;
  auto tensorType = dyn_cast<RankedTensorType>(type);
  if (!tensorType)
    return shape;
  size_t dynamic = 0;
  for (int64_t dim : tensorType.getShape())
    shape.push_back(ShapedType::isDynamic(dim) ? sizes[dynamic++].integer()
                                               : dim);
  return shape;
}

FailureOr<Tensor> interpret::tensorOf(ElementsAttr attribute) {
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (!elements)
    return failure();
  Type elementType = elements.getElementType();
  Shape shape(elements.getType().getShape());
  if (isa<FloatType>(elementType)) {
    std::vector<double> values;
    for (APFloat value : elements.getValues<APFloat>())
      values.push_back(value.convertToDouble());
    return Tensor(dataTypeOf(elementType), std::move(shape), std::move(values));
  }
  std::vector<int64_t> values;
  for (const APInt &value : elements.getValues<APInt>())
    values.push_back(value.getBitWidth() <= 8 ? value.getZExtValue()
                                              : value.getSExtValue());
  return Tensor(dataTypeOf(elementType), std::move(shape), std::move(values));
}
