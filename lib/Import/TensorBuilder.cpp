//===- TensorBuilder.cpp - Builds ops on tensors of symbolic size ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace smp;
using smp::pt2::SizeExpr;

Type smp::elementType(MLIRContext *context, DataType type) {
  Builder builder(context);
  switch (type) {
  case DataType::F64:
    return builder.getF64Type();
  case DataType::F32:
    return builder.getF32Type();
  case DataType::BF16:
    return builder.getBF16Type();
  case DataType::F16:
    return builder.getF16Type();
  case DataType::I64:
    return builder.getI64Type();
  case DataType::I32:
    return builder.getI32Type();
  case DataType::U8:
    return builder.getI8Type();
  case DataType::Bool:
    return builder.getI1Type();
  }
  llvm_unreachable("all types are handled");
}

RankedTensorType smp::tensorType(Type element, const Shape &shape) {
  SmallVector<int64_t> dims;
  for (const SizeExpr &size : shape)
    dims.push_back(size.constant().value_or(ShapedType::kDynamic));
  return RankedTensorType::get(dims, element);
}

std::string smp::shapeText(const Shape &shape) {
  std::string text = "[";
  for (const SizeExpr &size : shape)
    text += (text.size() == 1 ? "" : ", ") + size.str();
  return text + "]";
}

std::optional<SizeExpr> smp::elementsOf(const Shape &shape) {
  std::optional<SizeExpr> product = SizeExpr(1);
  for (const SizeExpr &size : shape)
    if (product)
      product = SizeExpr::multiply(*product, size);
  return product;
}

//===----------------------------------------------------------------------===//
// SizeValues
//===----------------------------------------------------------------------===//

Value SizeValues::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(),
                                        value);
}

Value SizeValues::symbol(const std::string &name) {
  auto found = symbols.find(name);
  if (found == symbols.end())
    return {};
  auto [argument, dim] = found->second;
  Value &value = cache[name];
  if (!value)
    value = DimOp::create(builder, builder.getUnknownLoc(),
                          builder.getIndexType(), argument, dim);
  return value;
}

Value SizeValues::get(const SizeExpr &size) {
  std::string key = size.str();
  if (auto found = cache.find(key); found != cache.end())
    return found->second;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(body);
  Location loc = builder.getUnknownLoc();
  Value sum;
  for (const auto &[monomial, coefficient] : size.getTerms()) {
    Value term;
    for (const std::string &name : monomial) {
      Value factor = symbol(name);
      if (!factor)
        return {};
      term = term ? arith::MulIOp::create(builder, loc, term, factor) : factor;
    }
    if (!term)
      term = constant(coefficient);
    else if (coefficient != 1)
      term = arith::MulIOp::create(builder, loc, term, constant(coefficient));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term) : term;
  }
  if (!sum)
    sum = constant(0);
  last = sum.getDefiningOp();
  return cache[key] = sum;
}

SmallVector<Value> TensorBuilder::sizesOf(const Shape &shape) {
  SmallVector<Value> values;
  for (const SizeExpr &size : shape) {
    if (size.constant())
      continue;
    Value value = sizes.get(size);
    if (!value) {
      failure = "of size '" + size.str() + "', which is no size of an input";
      value = sizes.get(0);
    }
    values.push_back(value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::fill(double value, Type element, const Shape &shape) {
  // As PyTorch converts numbers: to booleans by whether they are zero.
  if (element.isInteger(1))
    value = value != 0.0;
  else if (isa<IntegerType>(element))
    value = std::trunc(value);
  return {FillOp::create(builder, loc, tensorType(element, shape),
                         builder.getF64FloatAttr(value), sizesOf(shape)),
          shape};
}

Tensor TensorBuilder::iota(int64_t dim, Type element, const Shape &shape) {
  return {IotaOp::create(builder, loc, tensorType(element, shape),
                         builder.getI64IntegerAttr(dim), sizesOf(shape)),
          shape};
}

Tensor TensorBuilder::cast(Tensor operand, Type element) {
  if (operand.element() == element)
    return operand;
  return {CastOp::create(builder, loc, tensorType(element, operand.shape),
                         operand.value),
          operand.shape};
}

Tensor TensorBuilder::reshape(Tensor operand, const Shape &shape) {
  if (operand.shape == shape)
    return operand;
  return {ReshapeOp::create(builder, loc, tensorType(operand.element(), shape),
                            operand.value, sizesOf(shape)),
          shape};
}

Tensor TensorBuilder::expand(Tensor operand, const Shape &shape,
                             ArrayRef<int64_t> dims) {
  if (operand.shape == shape)
    return operand;
  return {ExpandOp::create(builder, loc, tensorType(operand.element(), shape),
                           operand.value, dims, sizesOf(shape)),
          shape};
}

Tensor TensorBuilder::broadcast(Tensor operand, const Shape &shape) {
  int64_t added = int64_t(shape.size()) - operand.rank();
  if (added < 0) {
    failure = "whose operand of shape " + shapeText(operand.shape) +
              " does not broadcast to " + shapeText(shape);
    return operand;
  }
  SmallVector<int64_t> dims(operand.rank());
  std::iota(dims.begin(), dims.end(), added);
  for (int64_t i = 0; i < operand.rank(); ++i)
    if (operand.shape[i] != SizeExpr(1) &&
        operand.shape[i] != shape[i + added]) {
      failure = "whose operand of shape " + shapeText(operand.shape) +
                " does not broadcast to " + shapeText(shape);
      return operand;
    }
  return expand(operand, shape, dims);
}

Tensor TensorBuilder::transpose(Tensor operand, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, operand.rank())))
    return operand;
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(operand.shape[dim]);
  return {TransposeOp::create(builder, loc,
                              tensorType(operand.element(), shape),
                              operand.value, permutation),
          shape};
}

Tensor TensorBuilder::swapDims(const Tensor &operand, int64_t a, int64_t b) {
  SmallVector<int64_t> permutation(operand.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[a], permutation[b]);
  return transpose(operand, permutation);
}

Tensor TensorBuilder::moveDim(const Tensor &operand, int64_t from, int64_t to) {
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (dim != from)
      permutation.push_back(dim);
  permutation.insert(permutation.begin() + to, from);
  return transpose(operand, permutation);
}

Tensor TensorBuilder::slice(Tensor operand, int64_t dim, int64_t start,
                            int64_t stop, int64_t step) {
  if (start == 0 && step == 1 && operand.shape[dim] == SizeExpr(stop))
    return operand;
  if (!operand.shape[dim].constant()) {
    failure = "that cuts dim " + std::to_string(dim) +
              ", whose size varies with the batch";
    return operand;
  }
  Shape shape = operand.shape;
  shape[dim] = (stop - start + step - 1) / step;
  return {SliceOp::create(builder, loc, tensorType(operand.element(), shape),
                          operand.value, dim, start, stop, step),
          shape};
}

Tensor TensorBuilder::pad(Tensor operand, int64_t dim, int64_t low,
                          int64_t high, double value) {
  if (low == 0 && high == 0)
    return operand;
  if (!operand.shape[dim].constant()) {
    failure = "that pads dim " + std::to_string(dim) +
              ", whose size varies with the batch";
    return operand;
  }
  Shape shape = operand.shape;
  shape[dim] = *shape[dim].constant() + low + high;
  return {PadOp::create(builder, loc, tensorType(operand.element(), shape),
                        operand.value, dim, low, high, /*interior=*/0,
                        llvm::APFloat(value)),
          shape};
}

Tensor TensorBuilder::concat(ArrayRef<Tensor> operands, int64_t dim) {
  SmallVector<Value> values;
  Shape shape = operands.front().shape;
  shape[dim] = 0;
  for (const Tensor &operand : operands) {
    values.push_back(operand.value);
    std::optional<SizeExpr> sum = SizeExpr::add(shape[dim], operand.shape[dim]);
    shape[dim] = sum.value_or(0);
  }
  return {ConcatOp::create(builder, loc,
                           tensorType(operands.front().element(), shape),
                           values, dim),
          shape};
}

Tensor TensorBuilder::compare(ComparePredicate predicate, const Tensor &lhs,
                              const Tensor &rhs) {
  return {CompareOp::create(builder, loc,
                            tensorType(builder.getI1Type(), lhs.shape),
                            predicate, lhs.value, rhs.value),
          lhs.shape};
}

Tensor TensorBuilder::select(const Tensor &condition, const Tensor &onTrue,
                             const Tensor &onFalse) {
  return {SelectOp::create(builder, loc, onTrue.type(), condition.value,
                           onTrue.value, onFalse.value),
          onTrue.shape};
}

Tensor TensorBuilder::elementCount(const Shape &shape) {
  Tensor ones = fill(1.0, builder.getI64Type(), shape);
  return reduce<ReduceSumOp>(
      ones, llvm::to_vector(llvm::seq<int64_t>(0, ones.rank())), false);
}

std::pair<Shape, Shape> TensorBuilder::reducedShapes(const Shape &shape,
                                                     ArrayRef<int64_t> dims) {
  Shape without, with = shape;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (llvm::is_contained(dims, int64_t(dim)))
      with[dim] = 1;
    else
      without.push_back(shape[dim]);
  return {without, with};
}
