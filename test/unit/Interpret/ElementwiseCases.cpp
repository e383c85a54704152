//===- ElementwiseCases.cpp - Gradient tests of elementwise ops -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

template <typename OpTy> static void unary(GradientCase &c) {
  c.finish(c.create<OpTy>(c.number(c.shape(0, 3))));
}

template <typename OpTy> static void positive(GradientCase &c) {
  c.finish(c.create<OpTy>(c.number(c.shape(0, 3), 0.2, 2)));
}

template <typename OpTy> static void binary(GradientCase &c) {
  Shape shape = c.shape(0, 3);
  Value lhs = c.number(shape), rhs = c.number(shape);
  c.finish(c.create<OpTy>(lhs, rhs));
}

static void power(GradientCase &c) {
  Shape shape = c.shape(0, 3);
  Value base = c.number(shape, 0.2, 2), exponent = c.number(shape, -2, 2);
  c.finish(c.create<PowOp>(base, exponent));
}

static void gelu(GradientCase &c) {
  auto form = c.pick(0, 1) ? GeluApproximation::Tanh : GeluApproximation::None;
  c.finish(c.create<GeluOp>(c.number(c.shape(0, 3), -3, 3), form));
}

static void cast(GradientCase &c) {
  Shape shape = c.shape(0, 3);
  Value operand = c.number(shape);
  c.finish(c.create<CastOp>(
      RankedTensorType::get(shape, c.builder.getF64Type()), operand));
}

static void select(GradientCase &c) {
  Shape shape = c.shape(0, 3);
  Value condition = c.flags(shape);
  Value onTrue = c.number(shape), onFalse = c.number(shape);
  c.finish(c.create<SelectOp>(condition, onTrue, onFalse));
}

static void dropout(GradientCase &c) {
  c.finish(c.create<DropoutOp>(c.number(c.shape(1, 3)), APFloat(0.4),
                               c.pick(1, 100)));
}

ArrayRef<NamedCase> interpret::elementwiseCases() {
  static constexpr NamedCase cases[] = {
      {"smp.neg", unary<NegOp>},
      {"smp.abs", unary<AbsOp>},
      {"smp.exp", unary<ExpOp>},
      {"smp.log", positive<LogOp>},
      {"smp.sqrt", positive<SqrtOp>},
      {"smp.rsqrt", positive<RsqrtOp>},
      {"smp.sin", unary<SinOp>},
      {"smp.cos", unary<CosOp>},
      {"smp.tanh", unary<TanhOp>},
      {"smp.sigmoid", unary<SigmoidOp>},
      {"smp.relu", unary<ReluOp>},
      {"smp.silu", unary<SiluOp>},
      {"smp.gelu", gelu},
      {"smp.cast", cast},
      {"smp.add", binary<AddOp>},
      {"smp.sub", binary<SubOp>},
      {"smp.mul", binary<MulOp>},
      {"smp.div", binary<DivOp>},
      {"smp.pow", power},
      {"smp.maximum", binary<MaximumOp>},
      {"smp.minimum", binary<MinimumOp>},
      {"smp.select", select},
      {"smp.dropout", dropout},
  };
  return cases;
}
