//===- KernelEmitter.cpp - The code of one kernel --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/KernelEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

/// Truth values lie in bytes.
static Type storageType(Type elementType) {
  return elementType.isInteger(1)
             ? IntegerType::get(elementType.getContext(), 8)
             : elementType;
}

static Type elementTypeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

static unsigned byteWidth(Type storage) {
  return storage.getIntOrFloatBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Constants and arithmetic
//===----------------------------------------------------------------------===//

Value KernelEmitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value KernelEmitter::splat(Value scalar) {
  return vector::BroadcastOp::create(b, vectorOf(scalar.getType()), scalar);
}

Value KernelEmitter::splat(double value, Type type) {
  TypedAttr attribute;
  if (isa<FloatType>(type))
    attribute = b.getFloatAttr(type, value);
  else
    attribute = b.getIntegerAttr(type, static_cast<int64_t>(value));
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorOf(type), Attribute(attribute)));
}

Value KernelEmitter::first(Value vector) {
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
}

Value KernelEmitter::select(Value mask, Value a, Value c) {
  return arith::SelectOp::create(b, mask, a, c);
}

Value KernelEmitter::convert(Value vector, Type to) {
  Type from = cast<VectorType>(vector.getType()).getElementType();
  VectorType type = vectorOf(to);
  if (from == to)
    return vector;
  bool toFloat = isa<FloatType>(to);
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from)) {
    if (toFloat && fromBits < toBits)
      return arith::ExtFOp::create(b, type, vector);
    if (toFloat)
      return arith::TruncFOp::create(b, type, vector);
    if (toBits == 1)
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, vector,
                                   splat(0.0, from));
    return arith::FPToSIOp::create(b, type, vector);
  }
  if (toFloat && fromBits == 1)
    return arith::UIToFPOp::create(b, type, vector);
  if (toFloat)
    return arith::SIToFPOp::create(b, type, vector);
  if (toBits == 1)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, vector,
                                 splat(0.0, from));
  if (fromBits == 1)
    return arith::ExtUIOp::create(b, type, vector);
  if (fromBits < toBits)
    return arith::ExtSIOp::create(b, type, vector);
  return arith::TruncIOp::create(b, type, vector);
}

Value KernelEmitter::immediate(int64_t position) {
  Value pointer = elementPointer(immediateArray, b.getI64Type(), i64(position));
  return LLVM::LoadOp::create(b, b.getI64Type(), pointer, 8);
}

Value KernelEmitter::immediate(Operation *op, int64_t which) {
  return immediate(immediateIndex.lookup(op) + which);
}

Value KernelEmitter::stepField(StepField field, Type type) {
  Value pointer =
      elementPointer(stepState, b.getI64Type(), i64(static_cast<int>(field)));
  return LLVM::LoadOp::create(b, type, pointer, 8);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelEmitter::elementPointer(Value pointer, Type storage,
                                    Value position) {
  return LLVM::GEPOp::create(b, pointer.getType(), storage, pointer,
                             ArrayRef<LLVM::GEPArg>{position});
}

Value KernelEmitter::lanePointers(Value pointer, Type storage,
                                  const Coordinate &position) {
  return LLVM::GEPOp::create(b, vectorOf(pointer.getType()), storage, pointer,
                             ArrayRef<LLVM::GEPArg>{lanesOf(position)});
}

Value KernelEmitter::fullMask() {
  return activeMask ? activeMask : splat(1.0, b.getI1Type());
}

Value KernelEmitter::load(Value tensor, const Index &index) {
  Value pointer = pointers.lookup(tensor);
  assert(pointer && "operand of a kernel without memory");
  Type elementType = elementTypeOf(tensor), storage = storageType(elementType);
  unsigned width = byteWidth(storage);
  Coordinate position = linearize(index, tensor);
  Value result;
  if (position.isUniform()) {
    Value address = elementPointer(pointer, storage, position.base);
    result = splat(LLVM::LoadOp::create(b, storage, address, width));
  } else if (position.isContiguous()) {
    Value address = elementPointer(pointer, storage, position.base);
    if (activeMask)
      result = LLVM::MaskedLoadOp::create(b, vectorOf(storage), address,
                                          activeMask, splat(0.0, storage),
                                          b.getI32IntegerAttr(width));
    else
      result = LLVM::LoadOp::create(b, vectorOf(storage), address, width);
  } else {
    Value addresses = lanePointers(pointer, storage, position);
    result = LLVM::masked_gather::create(
        b, vectorOf(storage), addresses, fullMask(),
        ValueRange{splat(0.0, storage)}, b.getI32IntegerAttr(width));
  }
  return elementType.isInteger(1) ? convert(result, b.getI1Type()) : result;
}

Value KernelEmitter::at(Value tensor, const Index &index) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return load(tensor, index);
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  CacheKey key{op, index.key()};
  for (auto &cache : llvm::reverse(caches))
    if (auto found = cache.find(key); found != cache.end())
      return found->second[number];
  SmallVector<Value> results;
  cast<PointwiseOpInterface>(op).emitElements(*this, index, results);
  Value result = results[number];
  caches.back()[key] = std::move(results);
  return result;
}

Value KernelEmitter::scalarAt(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Coordinate> zeros(type.getRank(), constant(0));
  return at(tensor, fromDims(zeros));
}

void KernelEmitter::store(Value result, const Index &index, Value elements) {
  Value pointer = pointers.lookup(result);
  if (!pointer)
    return;
  Type storage = storageType(elementTypeOf(result));
  unsigned width = byteWidth(storage);
  elements = convert(elements, storage);
  Coordinate position = linearize(index, result);
  if (position.isUniform()) {
    Value address = elementPointer(pointer, storage, position.base);
    LLVM::StoreOp::create(b, first(elements), address, width);
  } else if (!position.isContiguous()) {
    Value addresses = lanePointers(pointer, storage, position);
    LLVM::masked_scatter::create(b, elements, addresses, fullMask(),
                                 b.getI32IntegerAttr(width));
  } else {
    Value address = elementPointer(pointer, storage, position.base);
    if (activeMask)
      LLVM::MaskedStoreOp::create(b, elements, address, activeMask,
                                  b.getI32IntegerAttr(width));
    else
      LLVM::StoreOp::create(b, elements, address, width);
  }
}
