//===- Tensor.h - The values of the interpreter -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dense tensor as the interpreter sees it: floating elements are doubles and
// integer elements are 64 bits wide, whatever the written element type. The
// written type stays with the tensor; `roundToType` brings the elements to what
// it can hold. Copies share their elements until one of them is changed.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_TENSOR_H
#define SMP_INTERPRET_TENSOR_H

#include "smp/Support/DataType.h"
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace smp::interpret {

using Shape = std::vector<int64_t>;

inline bool isFloating(DataType type) {
  return type == DataType::F64 || type == DataType::F32 ||
         type == DataType::BF16 || type == DataType::F16;
}

inline int64_t elementsOf(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

class Tensor {
public:
  /// The scalar zero of type i64.
  Tensor() : Tensor(DataType::I64, {}) {}
  /// Zeros.
  Tensor(DataType type, Shape shape);
  Tensor(DataType type, Shape shape, std::vector<double> elements);
  Tensor(DataType type, Shape shape, std::vector<int64_t> elements);

  /// All elements have one value.
  static Tensor filled(DataType type, Shape shape, double value);
  /// A number without dims.
  static Tensor scalar(DataType type, double value) {
    return filled(type, {}, value);
  }
  /// A size or another integer of the program.
  static Tensor index(int64_t value) {
    return Tensor(DataType::I64, {}, std::vector<int64_t>{value});
  }

  DataType type() const { return elementType; }
  bool isFloat() const { return isFloating(elementType); }
  const Shape &shape() const { return dims; }
  int64_t dim(int64_t index) const { return dims[index]; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const { return elementsOf(dims); }
  /// The size of the last dim, and how many rows of it there are.
  int64_t lastDim() const { return dims.back(); }
  int64_t rows() const { return lastDim() == 0 ? 0 : size() / lastDim(); }

  std::span<const double> floats() const;
  std::span<const int64_t> ints() const;
  std::span<double> mutableFloats();
  std::span<int64_t> mutableInts();
  /// An element of any type as a double; integers beyond 2^53 lose digits.
  double number(int64_t element) const;
  /// The only element of an integer tensor.
  int64_t integer() const { return ints()[0]; }

  /// The same elements under another shape or type; the number of elements and
  /// whether they are floating stay.
  Tensor reshaped(Shape shape) const;
  Tensor retyped(DataType type) const;

  /// Rounds floating elements to nearest even, wraps integers.
  void roundToType();

  /// The rows `begin` to before `end` of dim 0.
  Tensor slice(int64_t begin, int64_t end) const;

private:
  using Elements = std::variant<std::vector<double>, std::vector<int64_t>>;
  void makeUnique();

  DataType elementType;
  Shape dims;
  std::shared_ptr<Elements> elements;
};

/// Named tensors: parameters, inputs, outputs, gradients.
using TensorMap = std::map<std::string, Tensor, std::less<>>;

/// One after the other along dim 0; all of one type and equal other dims.
Tensor concatenate(std::span<const Tensor> tensors);
/// Elementwise sum of floating or integer tensors of one shape.
Tensor sum(const Tensor &lhs, const Tensor &rhs);
/// Whether shapes, types and all bits of the elements agree.
bool identical(const Tensor &lhs, const Tensor &rhs);
/// max|a - b| / max|b|, the measure of all comparisons; infinity where shapes
/// differ or only one of two elements is a number.
double relativeDifference(const Tensor &a, const Tensor &b);

/// Row-major distance between neighbours along each dim.
Shape stridesOf(std::span<const int64_t> shape);

/// Calls `visit(coordinates, element)` for every place in row-major order.
template <typename Visitor>
void forEachPlace(std::span<const int64_t> shape, Visitor visit) {
  Shape place(shape.size(), 0);
  for (int64_t element = 0, count = elementsOf(shape); element < count;
       ++element) {
    visit(std::span<const int64_t>(place), element);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++place[dim] < shape[dim])
        break;
      place[dim] = 0;
    }
  }
}

/// Each result element is `source(coordinates)`, a place of `operand`, or
/// `padding` where that is negative.
template <typename Source>
Tensor moveElements(const Tensor &operand, Shape shape, Source source,
                    double padding = 0) {
  Tensor result = Tensor::filled(operand.type(), std::move(shape), padding);
  auto move = [&](auto from, auto to) {
    forEachPlace(result.shape(), [&](auto place, int64_t element) {
      if (int64_t at = source(place); at >= 0)
        to[element] = from[at];
    });
  };
  if (operand.isFloat())
    move(operand.floats(), result.mutableFloats());
  else
    move(operand.ints(), result.mutableInts());
  return result;
}

/// Applies `function`, which takes doubles as well as integers.
template <typename Function> Tensor map(Tensor operand, Function function) {
  if (operand.isFloat())
    for (double &element : operand.mutableFloats())
      element = function(element);
  else
    for (int64_t &element : operand.mutableInts())
      element = function(element);
  return operand;
}

template <typename Function>
Tensor zip(Tensor lhs, const Tensor &rhs, Function function) {
  auto apply = [&](auto left, auto right) {
    for (size_t element = 0; element < left.size(); ++element)
      left[element] = function(left[element], right[element]);
  };
  if (lhs.isFloat())
    apply(lhs.mutableFloats(), rhs.floats());
  else
    apply(lhs.mutableInts(), rhs.ints());
  return lhs;
}

} // namespace smp::interpret

#endif // SMP_INTERPRET_TENSOR_H
