//===- ImportLogic.cpp - Import of comparisons, logic and choices ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"

using namespace mlir;
using namespace smp;

template <ComparePredicate predicate>
static LogicalResult importCompare(NodeImporter &n) {
  Type element = promotedType(n, {"self", "other"});
  const Shape &shape = n.resultShape();
  Tensor lhs = operandAs(n, "self", element, shape);
  Tensor rhs = operandAs(n, "other", element, shape);
  if (n.refused())
    return failure();
  return n.give(n.compare(predicate, lhs, rhs));
}

/// A logical operator takes anything; a bitwise one means the same on
/// booleans, and is refused on integers.
template <typename Op> static LogicalResult importLogic(NodeImporter &n) {
  if (!n.resultElement().isInteger(1))
    return n.refuse("on integers");
  Type boolean = n.builder.getI1Type();
  Tensor lhs = operandAs(n, "self", boolean, n.resultShape());
  Tensor rhs = operandAs(n, "other", boolean, n.resultShape());
  if (n.refused())
    return failure();
  return n.give(n.binary<Op>(lhs, rhs));
}

static LogicalResult importNot(NodeImporter &n) {
  if (!n.resultElement().isInteger(1))
    return n.refuse("on integers");
  return n.give(
      n.unary<NotOp>(convert(n, n.tensor("self"), n.builder.getI1Type())));
}

/// condition ? self : other.
static LogicalResult importWhere(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor condition = operandAs(n, "condition", n.builder.getI1Type(), shape);
  Tensor onTrue = operandAs(n, "self", element, shape);
  Tensor onFalse = operandAs(n, "other", element, shape);
  if (n.refused())
    return failure();
  return n.give(n.select(condition, onTrue, onFalse));
}

/// mask ? value : self.
static LogicalResult importMaskedFill(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor mask = operandAs(n, "mask", n.builder.getI1Type(), shape);
  Tensor value = operandAs(n, "value", element, shape);
  Tensor self = operandAs(n, "self", element, shape);
  if (n.refused())
    return failure();
  return n.give(n.select(mask, value, self));
}

/// Keeps the elements on and below (`tril`) or above (`triu`) a diagonal.
template <ComparePredicate keep>
static LogicalResult importTriangle(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t rank = operand.rank();
  if (rank < 2)
    return n.refuse("of a tensor of rank " + Twine(rank));
  Type index = n.builder.getI64Type();
  Tensor row = n.iota(rank - 2, index, operand.shape);
  Tensor column = n.iota(rank - 1, index, operand.shape);
  double diagonal = n.integer("diagonal", 0);
  Tensor limit = n.binary<AddOp>(row, n.fill(diagonal, index, operand.shape));
  Tensor zero = n.fill(0.0, operand.element(), operand.shape);
  if (n.refused())
    return failure();
  return n.give(n.select(n.compare(keep, column, limit), operand, zero));
}

ArrayRef<ImportRule> smp::logicRules() {
  using P = ComparePredicate;
  static const ImportRule rules[] = {
      {"aten.eq.Tensor", importCompare<P::EQ>, "self other"},
      {"aten.eq.Scalar", importCompare<P::EQ>, "self"},
      {"aten.ne.Tensor", importCompare<P::NE>, "self other"},
      {"aten.ne.Scalar", importCompare<P::NE>, "self"},
      {"aten.lt.Tensor", importCompare<P::LT>, "self other"},
      {"aten.lt.Scalar", importCompare<P::LT>, "self"},
      {"aten.le.Tensor", importCompare<P::LE>, "self other"},
      {"aten.le.Scalar", importCompare<P::LE>, "self"},
      {"aten.gt.Tensor", importCompare<P::GT>, "self other"},
      {"aten.gt.Scalar", importCompare<P::GT>, "self"},
      {"aten.ge.Tensor", importCompare<P::GE>, "self other"},
      {"aten.ge.Scalar", importCompare<P::GE>, "self"},
      {"aten.logical_and.default", importLogic<AndOp>, "self other"},
      {"aten.logical_or.default", importLogic<OrOp>, "self other"},
      {"aten.bitwise_and.Tensor", importLogic<AndOp>, "self other"},
      {"aten.bitwise_or.Tensor", importLogic<OrOp>, "self other"},
      {"aten.__and__.Tensor", importLogic<AndOp>, "self other"},
      {"aten.__or__.Tensor", importLogic<OrOp>, "self other"},
      {"aten.logical_not.default", importNot, "self"},
      {"aten.bitwise_not.default", importNot, "self"},
      {"aten.where.self", importWhere, "condition self other"},
      {"aten.where.ScalarSelf", importWhere, "condition other"},
      {"aten.where.ScalarOther", importWhere, "condition self"},
      {"aten.where.Scalar", importWhere, "condition"},
      {"aten.masked_fill.Scalar", importMaskedFill, "self mask"},
      {"aten.masked_fill.Tensor", importMaskedFill, "self mask value"},
      {"aten.tril.default", importTriangle<P::LE>, "self"},
      {"aten.triu.default", importTriangle<P::GE>, "self"},
  };
  return rules;
}
