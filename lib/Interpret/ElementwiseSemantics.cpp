//===- ElementwiseSemantics.cpp - Arithmetic and logic at each place -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

// Integers wrap around: their arithmetic is that of unsigned numbers.
static double plus(double x, double y) { return x + y; }
static int64_t plus(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + y);
}
static double minus(double x, double y) { return x - y; }
static int64_t minus(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) - y);
}
static double times(double x, double y) { return x * y; }
static int64_t times(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * y);
}

static Tensor evaluate(NegOp, Operands in, Context &) {
  return map(in[0], [](auto x) {
    return std::is_same_v<decltype(x), double> ? -x : minus(decltype(x){}, x);
  });
}

static Tensor evaluate(AbsOp, Operands in, Context &) {
  return map(in[0], [](auto x) {
    if constexpr (std::is_same_v<decltype(x), double>)
      return std::abs(x);
    else
      return x < 0 ? minus(int64_t{0}, x) : x;
  });
}

static Tensor evaluate(SqrtOp, Operands in, Context &) {
  return map(in[0], [](double x) { return std::sqrt(x); });
}

static Tensor evaluate(RsqrtOp, Operands in, Context &) {
  return map(in[0], [](double x) { return 1 / std::sqrt(x); });
}

static Tensor evaluate(ExpOp, Operands in, Context &) {
  return map(in[0], [](double x) { return std::exp(x); });
}

static Tensor evaluate(LogOp, Operands in, Context &) {
  return map(in[0], [](double x) { return std::log(x); });
}

static Tensor evaluate(SinOp, Operands in, Context &) {
  return map(in[0], [](double x) { return std::sin(x); });
}

static Tensor evaluate(CosOp, Operands in, Context &) {
  return map(in[0], [](double x) { return std::cos(x); });
}

static Tensor evaluate(StopGradientOp, Operands in, Context &) { return in[0]; }

static Tensor evaluate(AddOp, Operands in, Context &) {
  return zip(in[0], in[1], [](auto x, auto y) { return plus(x, y); });
}

static Tensor evaluate(SubOp, Operands in, Context &) {
  return zip(in[0], in[1], [](auto x, auto y) { return minus(x, y); });
}

static Tensor evaluate(MulOp, Operands in, Context &) {
  return zip(in[0], in[1], [](auto x, auto y) { return times(x, y); });
}

static Tensor evaluate(DivOp, Operands in, Context &) {
  return zip(in[0], in[1], [](double x, double y) { return x / y; });
}

static Tensor evaluate(PowOp, Operands in, Context &) {
  return zip(in[0], in[1], [](double x, double y) { return std::pow(x, y); });
}

// As in PyTorch, what is not a number wins.
static Tensor evaluate(MaximumOp, Operands in, Context &) {
  return zip(in[0], in[1],
             [](auto x, auto y) { return x > y || x != x ? x : y; });
}

static Tensor evaluate(MinimumOp, Operands in, Context &) {
  return zip(in[0], in[1],
             [](auto x, auto y) { return x < y || x != x ? x : y; });
}

static Tensor evaluate(NotOp, Operands in, Context &) {
  return map(in[0], [](auto x) { return decltype(x)(x == 0); });
}

static Tensor evaluate(AndOp, Operands in, Context &) {
  return zip(in[0], in[1],
             [](auto x, auto y) { return decltype(x)(x != 0 && y != 0); });
}

static Tensor evaluate(OrOp, Operands in, Context &) {
  return zip(in[0], in[1],
             [](auto x, auto y) { return decltype(x)(x != 0 || y != 0); });
}

static bool holds(ComparePredicate predicate, auto x, auto y) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return x == y;
  case ComparePredicate::NE:
    return x != y;
  case ComparePredicate::LT:
    return x < y;
  case ComparePredicate::LE:
    return x <= y;
  case ComparePredicate::GT:
    return x > y;
  case ComparePredicate::GE:
    return x >= y;
  }
  return false;
}

static Tensor evaluate(CompareOp op, Operands in, Context &) {
  std::vector<int64_t> result(in[0].size());
  auto compare = [&](auto lhs, auto rhs) {
    for (size_t place = 0; place < result.size(); ++place)
      result[place] = holds(op.getPredicate(), lhs[place], rhs[place]);
  };
  if (in[0].isFloat())
    compare(in[0].floats(), in[1].floats());
  else
    compare(in[0].ints(), in[1].ints());
  return Tensor(DataType::Bool, in[0].shape(), std::move(result));
}

static Tensor evaluate(SelectOp, Operands in, Context &) {
  Tensor result = in[1];
  auto choose = [&](auto chosen, auto otherwise) {
    for (size_t place = 0; place < chosen.size(); ++place)
      if (!in[0].ints()[place])
        chosen[place] = otherwise[place];
  };
  if (result.isFloat())
    choose(result.mutableFloats(), in[2].floats());
  else
    choose(result.mutableInts(), in[2].ints());
  return result;
}

/// Towards zero; what does not fit becomes the smallest number, as on x86.
static int64_t truncate(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x)
                                    : std::numeric_limits<int64_t>::min();
}

static Tensor evaluate(CastOp op, Operands in, Context &) {
  DataType to = elementTypeOf(op.getResult());
  const Tensor &from = in[0];
  if (isFloating(to)) {
    std::vector<double> result(from.size());
    for (size_t place = 0; place < result.size(); ++place)
      result[place] = from.number(place);
    return Tensor(to, from.shape(), std::move(result));
  }
  std::vector<int64_t> result(from.size());
  for (size_t place = 0; place < result.size(); ++place)
    if (to == DataType::Bool)
      result[place] = from.number(place) != 0;
    else
      result[place] =
          from.isFloat() ? truncate(from.floats()[place]) : from.ints()[place];
  return Tensor(to, from.shape(), std::move(result));
}

void attachElementwiseSemantics(MLIRContext *context) {
  attach<NegOp, AbsOp, SqrtOp, RsqrtOp, ExpOp, LogOp, SinOp, CosOp,
         StopGradientOp, AddOp, SubOp, MulOp, DivOp, PowOp, MaximumOp,
         MinimumOp, NotOp, AndOp, OrOp, CompareOp, SelectOp, CastOp>(context);
}

} // namespace smp::interpret
