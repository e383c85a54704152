//===- ElementwiseModels.cpp - Code of arithmetic and activations -*- C++ -*-=//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One formula per op. Each rounds where it is written to: nothing is contracted
// or reassociated later.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

Value fma(KernelEmitter &e, Value a, Value b, Value c) {
  return math::FmaOp::create(e.b, a, b, c);
}
Value exp(KernelEmitter &e, Value a) { return math::ExpOp::create(e.b, a); }
Value log(KernelEmitter &e, Value a) { return math::LogOp::create(e.b, a); }
Value sqrt(KernelEmitter &e, Value a) { return math::SqrtOp::create(e.b, a); }
Value number(KernelEmitter &e, double value, Value like) {
  return e.splat(value, getElementTypeOrSelf(like.getType()));
}
Value sigmoid(KernelEmitter &e, Value a) {
  Value power = exp(e, arith::NegFOp::create(e.b, a));
  Value one = number(e, 1.0, a);
  return divF(e, one, addF(e, one, power));
}

using Operands = ArrayRef<Value>;

static bool isFloat(Value vector) {
  return isa<FloatType>(getElementTypeOrSelf(vector.getType()));
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static Value formula(NegOp, KernelEmitter &e, Operands in) {
  if (isFloat(in[0]))
    return arith::NegFOp::create(e.b, in[0]);
  return arith::SubIOp::create(e.b, number(e, 0, in[0]), in[0]);
}
static Value formula(AbsOp, KernelEmitter &e, Operands in) {
  if (isFloat(in[0]))
    return math::AbsFOp::create(e.b, in[0]);
  return math::AbsIOp::create(e.b, in[0]);
}
static Value formula(ExpOp, KernelEmitter &e, Operands in) {
  return exp(e, in[0]);
}
static Value formula(LogOp, KernelEmitter &e, Operands in) {
  return log(e, in[0]);
}
static Value formula(SqrtOp, KernelEmitter &e, Operands in) {
  return sqrt(e, in[0]);
}
static Value formula(RsqrtOp, KernelEmitter &e, Operands in) {
  return divF(e, number(e, 1, in[0]), sqrt(e, in[0]));
}
static Value formula(SinOp, KernelEmitter &e, Operands in) {
  return math::SinOp::create(e.b, in[0]);
}
static Value formula(CosOp, KernelEmitter &e, Operands in) {
  return math::CosOp::create(e.b, in[0]);
}
static Value formula(TanhOp, KernelEmitter &e, Operands in) {
  return math::TanhOp::create(e.b, in[0]);
}
static Value formula(SigmoidOp, KernelEmitter &e, Operands in) {
  return sigmoid(e, in[0]);
}
static Value formula(ReluOp, KernelEmitter &e, Operands in) {
  return arith::MaximumFOp::create(e.b, in[0], number(e, 0, in[0]));
}
static Value formula(SiluOp, KernelEmitter &e, Operands in) {
  return mulF(e, in[0], sigmoid(e, in[0]));
}
static Value formula(NotOp, KernelEmitter &e, Operands in) {
  return arith::XOrIOp::create(e.b, in[0], e.splat(1.0, e.b.getI1Type()));
}
static Value formula(CastOp op, KernelEmitter &e, Operands in) {
  return e.convert(in[0], tensorType(op.getResult()).getElementType());
}
static Value formula(StopGradientOp, KernelEmitter &, Operands in) {
  return in[0];
}

/// tanh of sqrt(2/pi) (x + 0.044715 x^3).
static Value geluTanh(KernelEmitter &e, Value x) {
  Value cube = mulF(e, mulF(e, x, x), x);
  Value sum = addF(e, x, mulF(e, number(e, 0.044715, x), cube));
  double factor = std::sqrt(2.0 / std::numbers::pi);
  return math::TanhOp::create(e.b, mulF(e, number(e, factor, x), sum));
}

/// erf(x / sqrt 2).
static Value geluErf(KernelEmitter &e, Value x) {
  return math::ErfOp::create(e.b,
                             mulF(e, x, number(e, std::numbers::sqrt2 / 2, x)));
}

static Value formula(GeluOp op, KernelEmitter &e, Operands in) {
  Value x = in[0];
  Value inner = op.getApproximate() == GeluApproximation::Tanh ? geluTanh(e, x)
                                                               : geluErf(e, x);
  return mulF(e, mulF(e, number(e, 0.5, x), x),
              addF(e, number(e, 1, x), inner));
}

static Value formula(GeluGradOp op, KernelEmitter &e, Operands in) {
  Value x = in[0], half = number(e, 0.5, x), one = number(e, 1, x);
  Value slope, inner;
  if (op.getApproximate() == GeluApproximation::Tanh) {
    // 0.5 (1 + t) + 0.5 x (1 - t^2) c (1 + 3 a x^2)
    inner = geluTanh(e, x);
    double factor = std::sqrt(2.0 / std::numbers::pi);
    Value square = mulF(e, mulF(e, number(e, 3 * 0.044715, x), x), x);
    Value rise = mulF(e, number(e, factor, x), addF(e, one, square));
    Value rest = subF(e, one, mulF(e, inner, inner));
    slope = mulF(e, mulF(e, mulF(e, half, x), rest), rise);
  } else {
    // 0.5 (1 + erf) + x exp(-x^2 / 2) / sqrt(2 pi)
    inner = geluErf(e, x);
    Value power = exp(e, mulF(e, mulF(e, number(e, -0.5, x), x), x));
    double factor = 1 / std::sqrt(2 * std::numbers::pi);
    slope = mulF(e, x, mulF(e, power, number(e, factor, x)));
  }
  Value derivative = addF(e, mulF(e, half, addF(e, one, inner)), slope);
  return mulF(e, in[1], derivative);
}

static Value formula(SiluGradOp, KernelEmitter &e, Operands in) {
  // s (1 + x (1 - s))
  Value x = in[0], s = sigmoid(e, x), one = number(e, 1, x);
  Value inner = addF(e, one, mulF(e, x, subF(e, one, s)));
  return mulF(e, in[1], mulF(e, s, inner));
}

//===----------------------------------------------------------------------===//
// Binary and ternary
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Value byKind(KernelEmitter &e, Operands in) {
  if (isFloat(in[0]))
    return FloatOp::create(e.b, in[0], in[1]);
  return IntOp::create(e.b, in[0], in[1]);
}

static Value formula(AddOp, KernelEmitter &e, Operands in) {
  return byKind<arith::AddFOp, arith::AddIOp>(e, in);
}
static Value formula(SubOp, KernelEmitter &e, Operands in) {
  return byKind<arith::SubFOp, arith::SubIOp>(e, in);
}
static Value formula(MulOp, KernelEmitter &e, Operands in) {
  return byKind<arith::MulFOp, arith::MulIOp>(e, in);
}
static Value formula(DivOp, KernelEmitter &e, Operands in) {
  return divF(e, in[0], in[1]);
}
static Value formula(MaximumOp, KernelEmitter &e, Operands in) {
  return byKind<arith::MaximumFOp, arith::MaxSIOp>(e, in);
}
static Value formula(MinimumOp, KernelEmitter &e, Operands in) {
  return byKind<arith::MinimumFOp, arith::MinSIOp>(e, in);
}
static Value formula(AndOp, KernelEmitter &e, Operands in) {
  return arith::AndIOp::create(e.b, in[0], in[1]);
}
static Value formula(OrOp, KernelEmitter &e, Operands in) {
  return arith::OrIOp::create(e.b, in[0], in[1]);
}
static Value formula(SelectOp, KernelEmitter &e, Operands in) {
  return e.select(in[0], in[1], in[2]);
}

static Value formula(PowOp op, KernelEmitter &e, Operands in) {
  // Small whole exponents are products: exact where libm is, and quick.
  FloatAttr exponent;
  if (auto fill = op.getRhs().getDefiningOp<FillOp>())
    exponent = fill.getValueAttr();
  double value = exponent ? exponent.getValueAsDouble() : 0.5;
  if (value == 1)
    return in[0];
  if (value == 2)
    return mulF(e, in[0], in[0]);
  if (value == 3)
    return mulF(e, mulF(e, in[0], in[0]), in[0]);
  // The C library's function, lane by lane, in double precision.
  Value base = e.convert(in[0], e.b.getF64Type());
  Value power = e.convert(in[1], e.b.getF64Type());
  return e.convert(LLVM::PowOp::create(e.b, base, power),
                   getElementTypeOrSelf(in[0].getType()));
}

static Value formula(CompareOp op, KernelEmitter &e, Operands in) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT,
                                 F::OLE, F::OGT, F::OGE};
  static constexpr I integers[] = {I::eq,  I::ne,  I::slt,
                                   I::sle, I::sgt, I::sge};
  auto which = static_cast<unsigned>(op.getPredicate());
  if (isFloat(in[0]))
    return arith::CmpFOp::create(e.b, floats[which], in[0], in[1]);
  return arith::CmpIOp::create(e.b, integers[which], in[0], in[1]);
}

void attachElementwiseModels(MLIRContext *context) {
  attachElementwise<NegOp, AbsOp, ExpOp, LogOp, SqrtOp, RsqrtOp, SinOp, CosOp,
                    TanhOp, SigmoidOp, ReluOp, SiluOp, NotOp, CastOp,
                    StopGradientOp, GeluOp, GeluGradOp, SiluGradOp, AddOp,
                    SubOp, MulOp, DivOp, PowOp, MaximumOp, MinimumOp, AndOp,
                    OrOp, SelectOp, CompareOp>(context);
}

} // namespace smp::codegen
