//===- ImportArithmetic.cpp - Import of elementwise arithmetic ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"

using namespace mlir;
using namespace smp;

/// self ∘ alpha · other, in the type of the result.
template <typename Op> static LogicalResult importBinary(NodeImporter &n) {
  Type element = n.resultElement();
  if (element.isInteger(1))
    return n.refuse("on booleans");
  const Shape &shape = n.resultShape();
  Tensor lhs = operandAs(n, "self", element, shape);
  Tensor rhs = operandAs(n, "other", element, shape);
  if (double alpha = n.number("alpha", 1.0); alpha != 1.0)
    rhs = n.binary<MulOp>(rhs, n.fill(alpha, element, shape));
  if (n.refused())
    return failure();
  return n.give(n.binary<Op>(lhs, rhs));
}

/// Whether a scalar is a sum over samples.
static bool sumsSamples(const Tensor &tensor) {
  auto sum = tensor.value.getDefiningOp<ReduceSumOp>();
  return sum && tensor.rank() == 0 &&
         !cast<RankedTensorType>(sum.getOperand().getType()).hasStaticShape();
}

static LogicalResult importDiv(NodeImporter &n) {
  if (n.isGiven("rounding_mode"))
    return n.refuse("with rounding_mode '" + n.text("rounding_mode", "") + "'");
  // A sum over samples by a number that grows with theirs is a mean.
  std::optional<pt2::SizeExpr> size = n.symbolicSize("other");
  if (size && sumsSamples(n.tensor("self")))
    return n.give(meanLoss(n, n.tensor("self"), n.elementCount({*size}).value));
  return importBinary<DivOp>(n);
}

/// other - alpha · self.
static LogicalResult importReverseSub(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor lhs = operandAs(n, "other", element, shape);
  Tensor rhs = operandAs(n, "self", element, shape);
  if (n.number("alpha", 1.0) != 1.0)
    return n.refuse("with alpha");
  if (n.refused())
    return failure();
  return n.give(n.binary<SubOp>(lhs, rhs));
}

static LogicalResult importPow(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor base = operandAs(n, "self", element, shape);
  if (!isa<FloatType>(element)) {
    if (n.number("exponent", 0) != 2.0)
      return n.refuse("of integers");
    return n.give(n.binary<MulOp>(base, base));
  }
  Tensor exponent = operandAs(n, "exponent", element, shape);
  if (n.refused())
    return failure();
  return n.give(n.binary<PowOp>(base, exponent));
}

static LogicalResult importSquare(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  return n.give(n.binary<MulOp>(operand, operand));
}

static LogicalResult importReciprocal(NodeImporter &n) {
  Type element = n.resultElement();
  Tensor operand = convert(n, n.tensor("self"), element);
  return n.give(n.binary<DivOp>(n.fill(1.0, element, operand.shape), operand));
}

template <typename Op> static LogicalResult importUnary(NodeImporter &n) {
  Tensor operand = convert(n, n.tensor("self"), n.resultElement());
  if (n.refused())
    return failure();
  return n.give(n.unary<Op>(operand));
}

static LogicalResult importGelu(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  auto form = n.text("approximate", "none") == "tanh" ? GeluApproximation::Tanh
                                                      : GeluApproximation::None;
  return n.give(
      {GeluOp::create(n.builder, n.loc, operand.type(), operand.value, form),
       operand.shape});
}

Tensor smp::atLeast(NodeImporter &n, const Tensor &x, const Tensor &bound) {
  if (!isa<FloatType>(x.element()))
    return n.binary<MaximumOp>(x, bound);
  return n.select(n.compare(ComparePredicate::LE, x, bound), bound, x);
}

Tensor smp::atMost(NodeImporter &n, const Tensor &x, const Tensor &bound) {
  if (!isa<FloatType>(x.element()))
    return n.binary<MinimumOp>(x, bound);
  return n.select(n.compare(ComparePredicate::GE, x, bound), bound, x);
}

/// max(min, ·), then min(max, ·), whichever are given.
static LogicalResult importClamp(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor result = operandAs(n, "self", element, shape);
  if (n.isGiven("min"))
    result = atLeast(n, result, operandAs(n, "min", element, shape));
  if (n.isGiven("max"))
    result = atMost(n, result, operandAs(n, "max", element, shape));
  if (n.refused())
    return failure();
  return n.give(result);
}

/// A copy with another type, or none: values never alias here.
static LogicalResult importCopy(NodeImporter &n) {
  return n.give(convert(n, n.tensor("self"), n.resultElement()));
}

static LogicalResult importDetach(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  if (!isa<FloatType>(operand.element()))
    return n.give(operand);
  return n.give(n.unary<StopGradientOp>(operand));
}

ArrayRef<ImportRule> smp::arithmeticRules() {
  static const ImportRule rules[] = {
      {"aten.add.Tensor", importBinary<AddOp>, "self"},
      {"aten.add.Scalar", importBinary<AddOp>, "self"},
      {"aten.sub.Tensor", importBinary<SubOp>, "self"},
      {"aten.sub.Scalar", importBinary<SubOp>, "self"},
      {"aten.rsub.Scalar", importReverseSub, "self"},
      {"aten.rsub.Tensor", importReverseSub, "self other"},
      {"aten.mul.Tensor", importBinary<MulOp>, "self"},
      {"aten.mul.Scalar", importBinary<MulOp>, "self"},
      {"aten.true_divide.Tensor", importDiv, "self"},
      {"aten.true_divide.Scalar", importDiv, "self"},
      {"aten.div.Tensor", importDiv, "self"},
      {"aten.div.Scalar", importDiv, "self"},
      {"aten.div.Tensor_mode", importDiv, "self"},
      {"aten.maximum.default", importBinary<MaximumOp>, "self other"},
      {"aten.minimum.default", importBinary<MinimumOp>, "self other"},
      {"aten.max.other", importBinary<MaximumOp>, "self other"},
      {"aten.min.other", importBinary<MinimumOp>, "self other"},
      {"aten.pow.Tensor_Scalar", importPow, "self"},
      {"aten.pow.Tensor_Tensor", importPow, "self exponent"},
      {"aten.pow.Scalar", importPow, "exponent"},
      {"aten.square.default", importSquare, "self"},
      {"aten.reciprocal.default", importReciprocal, "self"},
      {"aten.clamp.default", importClamp, "self"},
      {"aten.clamp.Tensor", importClamp, "self"},
      {"aten.clamp_min.default", importClamp, "self"},
      {"aten.clamp_max.default", importClamp, "self"},
      {"aten.neg.default", importUnary<NegOp>, "self"},
      {"aten.abs.default", importUnary<AbsOp>, "self"},
      {"aten.exp.default", importUnary<ExpOp>, "self"},
      {"aten.log.default", importUnary<LogOp>, "self"},
      {"aten.sqrt.default", importUnary<SqrtOp>, "self"},
      {"aten.rsqrt.default", importUnary<RsqrtOp>, "self"},
      {"aten.sin.default", importUnary<SinOp>, "self"},
      {"aten.cos.default", importUnary<CosOp>, "self"},
      {"aten.tanh.default", importUnary<TanhOp>, "self"},
      {"aten.sigmoid.default", importUnary<SigmoidOp>, "self"},
      {"aten.relu.default", importUnary<ReluOp>, "self"},
      {"aten.silu.default", importUnary<SiluOp>, "self"},
      {"aten.gelu.default", importGelu, "self"},
      {"aten._to_copy.default", importCopy, "self"},
      {"aten.to.dtype", importCopy, "self"},
      {"aten.to.dtype_layout", importCopy, "self"},
      {"aten.to.device", importCopy, "self"},
      {"aten.to.other", importCopy, "self"},
      {"aten.to.prim_Device", importCopy, "self"},
      {"aten.type_as.default", importCopy, "self"},
      {"aten.lift_fresh.default", importCopy, "self"},
      {"aten.clone.default", importCopy, "self"},
      {"aten.contiguous.default", importCopy, "self"},
      {"aten.alias.default", importCopy, "self"},
      {"aten.lift_fresh_copy.default", importCopy, "self"},
      {"aten.detach.default", importDetach, "self"},
  };
  return rules;
}
