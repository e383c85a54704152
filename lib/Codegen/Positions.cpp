//===- Positions.cpp - Arithmetic on places of elements --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Codegen/KernelEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

/// Zero is a multiple of everything.
static int64_t commonAlignment(int64_t a, int64_t b) { return std::gcd(a, b); }

Coordinate KernelEmitter::constant(int64_t value) {
  return Coordinate{i64(value), 0, nullptr, value == 0 ? 0 : std::abs(value)};
}

Value KernelEmitter::lanesOf(const Coordinate &a) {
  if (a.lanes)
    return a.lanes;
  Value base = splat(a.base);
  if (a.laneStride == 0)
    return base;
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(lane * a.laneStride);
  Value offsets = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorOf(b.getI64Type()), ArrayRef(steps)));
  return arith::AddIOp::create(b, base, offsets);
}

Coordinate KernelEmitter::add(const Coordinate &a, const Coordinate &c) {
  if (a.lanes || c.lanes)
    return Coordinate{
        {}, 0, arith::AddIOp::create(b, lanesOf(a), lanesOf(c)), 1};
  return Coordinate{arith::AddIOp::create(b, a.base, c.base),
                    a.laneStride + c.laneStride, nullptr,
                    commonAlignment(a.alignment, c.alignment)};
}

Coordinate KernelEmitter::mul(const Coordinate &a, int64_t value) {
  if (value == 1)
    return a;
  if (a.lanes)
    return Coordinate{
        {}, 0, arith::MulIOp::create(b, a.lanes, splat(i64(value))), 1};
  return Coordinate{arith::MulIOp::create(b, a.base, i64(value)),
                    a.laneStride * value, nullptr, a.alignment * value};
}

std::pair<Coordinate, Coordinate> KernelEmitter::divmod(const Coordinate &a,
                                                        int64_t value) {
  if (value == 1)
    return {a, constant(0)};
  bool together =
      a.isContiguous() && value % lanes == 0 && a.alignment % lanes == 0;
  if (a.isUniform() || together) {
    Value divisor = i64(value);
    Coordinate quotient = uniform(arith::DivUIOp::create(b, a.base, divisor));
    Coordinate rest{arith::RemUIOp::create(b, a.base, divisor), a.laneStride,
                    nullptr, commonAlignment(a.alignment, value)};
    return {quotient, rest};
  }
  Value all = lanesOf(a), divisor = splat(i64(value));
  return {Coordinate{{}, 0, arith::DivUIOp::create(b, all, divisor), 1},
          Coordinate{{}, 0, arith::RemUIOp::create(b, all, divisor), 1}};
}

Coordinate KernelEmitter::clamp(const Coordinate &a, int64_t low,
                                int64_t high) {
  if (low == high)
    return constant(low);
  auto limit = [&](Value value, Value lowest, Value highest) -> Value {
    value = arith::MaxSIOp::create(b, value, lowest);
    return arith::MinSIOp::create(b, value, highest);
  };
  bool together = a.isContiguous() && a.alignment % lanes == 0 &&
                  low % lanes == 0 && (high + 1) % lanes == 0 &&
                  high + 1 - low >= lanes;
  if (together)
    return Coordinate{limit(a.base, i64(low), i64(high + 1 - lanes)), 1,
                      nullptr, lanes};
  if (a.isUniform())
    return uniform(limit(a.base, i64(low), i64(high)));
  return Coordinate{
      {}, 0, limit(lanesOf(a), splat(i64(low)), splat(i64(high))), 1};
}

Value KernelEmitter::compare(arith::CmpIPredicate predicate,
                             const Coordinate &a, const Coordinate &c) {
  return arith::CmpIOp::create(b, predicate, lanesOf(a), lanesOf(c));
}

Coordinate KernelEmitter::linearize(const Index &index, Value tensor) {
  if (index.flat)
    return index.coordinates.front();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  Coordinate position = constant(0);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    position = add(position, mul(index.coordinates[dim], stride));
  return position;
}

SmallVector<Coordinate, 4>
KernelEmitter::delinearize(const Coordinate &position,
                           ArrayRef<int64_t> shape) {
  SmallVector<Coordinate, 4> result(shape.size());
  Coordinate rest = position;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (dim == 0) {
      result[0] = rest;
      break;
    }
    auto [quotient, remainder] = divmod(rest, shape[dim]);
    result[dim] = remainder;
    rest = quotient;
  }
  return result;
}

SmallVector<Coordinate, 4> KernelEmitter::dims(const Index &index,
                                               Value tensor) {
  if (!index.flat)
    return index.coordinates;
  return delinearize(index.coordinates.front(),
                     cast<RankedTensorType>(tensor.getType()).getShape());
}
