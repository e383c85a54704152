//===- Tensor.cpp - The values of the interpreter -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Interpret/Tensor.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

using namespace smp;
using namespace smp::interpret;

Tensor::Tensor(DataType type, Shape shape)
    : elementType(type), dims(std::move(shape)) {
  if (isFloating(type))
    elements = std::make_shared<Elements>(std::vector<double>(size()));
  else
    elements = std::make_shared<Elements>(std::vector<int64_t>(size()));
}

Tensor::Tensor(DataType type, Shape shape, std::vector<double> values)
    : elementType(type), dims(std::move(shape)),
      elements(std::make_shared<Elements>(std::move(values))) {
  assert(isFloating(type) && static_cast<int64_t>(floats().size()) == size());
}

Tensor::Tensor(DataType type, Shape shape, std::vector<int64_t> values)
    : elementType(type), dims(std::move(shape)),
      elements(std::make_shared<Elements>(std::move(values))) {
  assert(!isFloating(type) && static_cast<int64_t>(ints().size()) == size());
}

Tensor Tensor::filled(DataType type, Shape shape, double value) {
  int64_t count = elementsOf(shape);
  if (isFloating(type))
    return Tensor(type, std::move(shape), std::vector<double>(count, value));
  return Tensor(type, std::move(shape),
                std::vector<int64_t>(count, static_cast<int64_t>(value)));
}

std::span<const double> Tensor::floats() const {
  return std::get<std::vector<double>>(*elements);
}

std::span<const int64_t> Tensor::ints() const {
  return std::get<std::vector<int64_t>>(*elements);
}

void Tensor::makeUnique() {
  if (elements.use_count() > 1)
    elements = std::make_shared<Elements>(*elements);
}

std::span<double> Tensor::mutableFloats() {
  makeUnique();
  return std::get<std::vector<double>>(*elements);
}

std::span<int64_t> Tensor::mutableInts() {
  makeUnique();
  return std::get<std::vector<int64_t>>(*elements);
}

double Tensor::number(int64_t element) const {
  return isFloat() ? floats()[element] : static_cast<double>(ints()[element]);
}

Tensor Tensor::reshaped(Shape shape) const {
  assert(elementsOf(shape) == size() && "a reshape keeps the elements");
  Tensor result = *this;
  result.dims = std::move(shape);
  return result;
}

Tensor Tensor::retyped(DataType type) const {
  assert(isFloating(type) == isFloat() && "the kind of elements stays");
  Tensor result = *this;
  result.elementType = type;
  return result;
}

/// What an integer type of fewer than 64 bits makes of a number.
static int64_t wrap(DataType type, int64_t value) {
  switch (type) {
  case DataType::Bool:
    return value & 1;
  case DataType::U8:
    return static_cast<uint8_t>(value);
  case DataType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

void Tensor::roundToType() {
  switch (elementType) {
  case DataType::F64:
  case DataType::I64:
    return;
  case DataType::F32:
    for (double &element : mutableFloats())
      element = static_cast<float>(element);
    return;
  case DataType::BF16:
  case DataType::F16:
    for (double &element : mutableFloats()) {
      uint16_t narrow = 0;
      convertElements(DataType::F64, &element, elementType, &narrow, 1);
      convertElements(elementType, &narrow, DataType::F64, &element, 1);
    }
    return;
  default:
    for (int64_t &element : mutableInts())
      element = wrap(elementType, element);
  }
}

Tensor Tensor::slice(int64_t begin, int64_t end) const {
  assert(rank() > 0 && begin >= 0 && begin <= end && end <= dim(0));
  Shape shape = dims;
  shape[0] = end - begin;
  int64_t row = elementsOf(std::span(dims).subspan(1));
  auto cut = [&](auto values) {
    return std::vector(values.begin() + begin * row,
                       values.begin() + end * row);
  };
  return isFloat() ? Tensor(elementType, std::move(shape), cut(floats()))
                   : Tensor(elementType, std::move(shape), cut(ints()));
}

Tensor interpret::concatenate(std::span<const Tensor> tensors) {
  assert(!tensors.empty() && "expects at least one tensor");
  Shape shape = tensors.front().shape();
  shape[0] = 0;
  for (const Tensor &tensor : tensors)
    shape[0] += tensor.dim(0);
  auto join = [&](auto elementsOfTensor, auto joined) {
    for (const Tensor &tensor : tensors) {
      auto values = elementsOfTensor(tensor);
      joined.insert(joined.end(), values.begin(), values.end());
    }
    return Tensor(tensors.front().type(), shape, std::move(joined));
  };
  if (tensors.front().isFloat())
    return join([](const Tensor &tensor) { return tensor.floats(); },
                std::vector<double>());
  return join([](const Tensor &tensor) { return tensor.ints(); },
              std::vector<int64_t>());
}

Tensor interpret::sum(const Tensor &lhs, const Tensor &rhs) {
  return zip(lhs, rhs, [](auto left, auto right) { return left + right; });
}

bool interpret::identical(const Tensor &lhs, const Tensor &rhs) {
  if (lhs.type() != rhs.type() || lhs.shape() != rhs.shape())
    return false;
  if (!lhs.isFloat())
    return std::ranges::equal(lhs.ints(), rhs.ints());
  // Empty tensors have no memory to look at.
  return lhs.size() == 0 ||
         std::memcmp(lhs.floats().data(), rhs.floats().data(),
                     lhs.floats().size_bytes()) == 0;
}

double interpret::relativeDifference(const Tensor &a, const Tensor &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.shape() != b.shape())
    return infinity;
  double difference = 0, scale = 0;
  for (int64_t element = 0, count = a.size(); element < count; ++element) {
    double left = a.number(element), right = b.number(element);
    if (left == right || (std::isnan(left) && std::isnan(right)))
      continue;
    if (!std::isfinite(left) || !std::isfinite(right))
      return infinity;
    difference = std::max(difference, std::abs(left - right));
  }
  for (int64_t element = 0, count = b.size(); element < count; ++element)
    if (std::isfinite(b.number(element)))
      scale = std::max(scale, std::abs(b.number(element)));
  if (difference == 0)
    return 0;
  return scale == 0 ? infinity : difference / scale;
}

Shape interpret::stridesOf(std::span<const int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}
