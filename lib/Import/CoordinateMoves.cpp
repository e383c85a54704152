//===- CoordinateMoves.cpp - Coordinate functions of constants and moves --===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoordinateRules.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace smp;

/// The coordinates of the result themselves.
static std::vector<Affine> identity(size_t rank) {
  std::vector<Affine> functions;
  functions.reserve(rank);
  for (size_t dim = 0; dim < rank; ++dim)
    functions.push_back(Affine::coordinate(dim, rank));
  return functions;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Elements smp::evaluateFill(Operation *op, ArrayRef<Elements>) {
  double value = cast<FillOp>(op).getValue().convertToDouble();
  if (isBoolean(op->getResult(0)))
    return Elements::ofBoolean(value != 0.0);
  if (std::abs(value) > 0x1p53 || value != std::trunc(value))
    return Elements::unknown();
  ArrayRef<int64_t> shape = resultShape(op);
  return Elements::ofInteger(Affine::number(int64_t(value), shape.size()),
                             shape);
}

Elements smp::evaluateIota(Operation *op, ArrayRef<Elements>) {
  ArrayRef<int64_t> shape = resultShape(op);
  return Elements::ofInteger(
      Affine::coordinate(cast<IotaOp>(op).getDim(), shape.size()), shape);
}

/// The affine function that agrees with the elements, if there is one.
static Elements fitAffine(DenseIntElementsAttr elements,
                          ArrayRef<int64_t> shape) {
  size_t rank = shape.size();
  auto values = elements.getValues<llvm::APInt>();
  auto valueAt = [&](int64_t index) { return values[index].getSExtValue(); };
  Affine function = Affine::number(valueAt(0), rank);
  int64_t stride = 1;
  for (size_t dim = rank; dim-- > 0;) {
    if (shape[dim] > 1 && __builtin_sub_overflow(valueAt(stride), valueAt(0),
                                                 &function.coefficients[dim]))
      return Elements::unknown();
    stride *= shape[dim];
  }
  if (!rangeOf(function, shape))
    return Elements::unknown();
  for (int64_t index = 0; index < stride; ++index) {
    int64_t value = function.constant, rest = index;
    for (size_t dim = rank; dim-- > 0;) {
      value += function.coefficients[dim] * (rest % shape[dim]);
      rest /= shape[dim];
    }
    if (value != valueAt(index))
      return Elements::unknown();
  }
  return Elements::ofInteger(function, shape);
}

/// Whether the function gives each element.
static bool agrees(const Elements &function, ArrayRef<char> values,
                   ArrayRef<int64_t> shape) {
  std::vector<int64_t> place(shape.size(), 0);
  for (char value : values) {
    if (function.holdsAt(place) != bool(value))
      return false;
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++place[dim] < shape[dim])
        break;
      place[dim] = 0;
    }
  }
  return true;
}

/// A constant, or a band or a causal mask with a prefix among the last two
/// dims, whose numbers the first row and column tell.
static Elements fitBoolean(DenseIntElementsAttr elements,
                           ArrayRef<int64_t> shape) {
  if (elements.isSplat())
    return Elements::ofBoolean(elements.getSplatValue<bool>());
  size_t rank = shape.size();
  if (rank < 2)
    return Elements::unknown();
  SmallVector<char> values(elements.getValues<bool>());
  int64_t columns = shape[rank - 1], rows = shape[rank - 2];
  int64_t inRow = 0, inColumn = 0;
  while (inRow < columns && values[inRow])
    ++inRow;
  while (inColumn < rows && values[inColumn * columns])
    ++inColumn;
  auto bound = [&](int64_t row, int64_t column, int64_t constant) {
    Affine function = Affine::number(constant, rank);
    function.coefficients[rank - 2] = row;
    function.coefficients[rank - 1] = column;
    return isNotNegative(function, shape);
  };
  for (const Elements &candidate :
       {conjunction(bound(1, -1, inRow - 1), bound(-1, 1, inColumn - 1), shape),
        disjunction(bound(1, -1, 0), bound(0, -1, inRow - 1), shape)})
    if (candidate.isBoolean() && agrees(candidate, values, shape))
      return candidate;
  return Elements::unknown();
}

Elements smp::evaluateConstant(Operation *op, ArrayRef<Elements>) {
  auto elements =
      dyn_cast<DenseIntElementsAttr>(cast<ConstantOp>(op).getValue());
  ArrayRef<int64_t> shape = resultShape(op);
  if (!elements || elements.empty())
    return Elements::unknown();
  return isBoolean(op->getResult(0)) ? fitBoolean(elements, shape)
                                     : fitAffine(elements, shape);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

Elements smp::evaluateExpand(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> to = resultShape(op), from = shapeOf(op->getOperand(0));
  std::vector<Affine> places;
  for (auto [dim, target] : llvm::enumerate(cast<ExpandOp>(op).getDims()))
    places.push_back(from[dim] == 1 ? Affine::number(0, to.size())
                                    : Affine::coordinate(target, to.size()));
  return operands[0].at(places, to);
}

/// Groups of dims with equal numbers of elements correspond; within a group
/// only one side may have more than one dim of size other than 1.
Elements smp::evaluateReshape(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> to = resultShape(op), from = shapeOf(op->getOperand(0));
  size_t rank = to.size();
  std::vector<Affine> places(from.size(), Affine::number(0, rank));
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i] == 1) {
      ++i;
      continue;
    }
    if (j < to.size() && to[j] == 1) {
      ++j;
      continue;
    }
    if (i == from.size() || j == to.size())
      return Elements::unknown();
    // One operand dim is the row-major place in some result dims.
    size_t end = j;
    int64_t product = 1;
    while (end < to.size() && product < from[i])
      product *= to[end++];
    if (product != from[i])
      return operands[0].isInteger() && operands[0].integer.asConstant()
                 ? operands[0].at(places, to)
             : operands[0].asBoolean() ? operands[0]
                                       : Elements::unknown();
    int64_t stride = product;
    for (; j < end; ++j) {
      stride /= to[j];
      places[i].coefficients[j] = stride;
    }
    ++i;
  }
  return operands[0].at(places, to);
}

Elements smp::evaluateTranspose(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> permutation = cast<TransposeOp>(op).getPermutation();
  std::vector<Affine> places(permutation.size());
  for (auto [dim, source] : llvm::enumerate(permutation))
    places[source] = Affine::coordinate(dim, permutation.size());
  return operands[0].at(places, resultShape(op));
}

Elements smp::evaluateSlice(Operation *op, ArrayRef<Elements> operands) {
  auto slice = cast<SliceOp>(op);
  ArrayRef<int64_t> shape = resultShape(op);
  std::vector<Affine> places = identity(shape.size());
  places[slice.getDim()].constant = slice.getStart();
  places[slice.getDim()].coefficients[slice.getDim()] = slice.getStep();
  return operands[0].at(places, shape);
}

/// Pieces are one function when each agrees with the longest one's
/// continuation.
Elements smp::evaluateConcat(Operation *op, ArrayRef<Elements> operands) {
  int64_t dim = cast<ConcatOp>(op).getDim();
  ArrayRef<int64_t> shape = resultShape(op);
  SmallVector<int64_t> offsets(1, 0);
  size_t longest = 0;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    offsets.push_back(offsets.back() + shapeOf(operand)[dim]);
    if (shapeOf(operand)[dim] > shapeOf(op->getOperand(longest))[dim])
      longest = index;
  }
  auto shifted = [&](const Elements &elements, int64_t by,
                     ArrayRef<int64_t> shape) {
    std::vector<Affine> places = identity(shape.size());
    places[dim].constant = by;
    return elements.at(places, shape);
  };
  Elements whole = shifted(operands[longest], -offsets[longest], shape);
  if (whole.kind == Elements::Kind::Unknown)
    return whole;
  for (size_t i = 0; i < operands.size(); ++i)
    if (shifted(whole, offsets[i], shapeOf(op->getOperand(i))) != operands[i])
      return Elements::unknown();
  return whole;
}

/// operand[g₀(x), g₁(x), ..., rest]: the functions composed.
Elements smp::evaluateIndex(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> shape = resultShape(op), from = shapeOf(op->getOperand(0));
  size_t count = operands.size() - 1;
  size_t indexRank = shapeOf(op->getOperand(1)).size();
  std::vector<Affine> places;
  for (size_t i = 0; i < count; ++i) {
    if (!operands[i + 1].isInteger())
      return Elements::unknown();
    Affine place = operands[i + 1].integer;
    std::optional<Range> range = rangeOf(place, shapeOf(op->getOperand(i + 1)));
    if (!range || range->low < 0 || range->high >= from[i])
      return Elements::unknown();
    place.coefficients.resize(shape.size(), 0);
    places.push_back(std::move(place));
  }
  for (size_t dim = count; dim < from.size(); ++dim)
    places.push_back(Affine::coordinate(indexRank + dim - count, shape.size()));
  return operands[0].at(places, shape);
}

Elements smp::evaluateGather(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> shape = resultShape(op), from = shapeOf(op->getOperand(0));
  int64_t dim = cast<GatherOp>(op).getDim();
  if (!operands[1].isInteger())
    return Elements::unknown();
  std::optional<Range> range = rangeOf(operands[1].integer, shape);
  if (!range || range->low < 0 || range->high >= from[dim])
    return Elements::unknown();
  std::vector<Affine> places = identity(shape.size());
  places[dim] = operands[1].integer;
  return operands[0].at(places, shape);
}
