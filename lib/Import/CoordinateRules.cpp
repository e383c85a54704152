//===- CoordinateRules.cpp - What ops do to coordinate functions ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoordinateRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace smp;

namespace {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Elements evaluateAdd(Operation *op, ArrayRef<Elements> operands) {
  if (!operands[0].isInteger() || !operands[1].isInteger())
    return Elements::unknown();
  return Elements::ofInteger(add(operands[0].integer, operands[1].integer),
                             resultShape(op));
}

Elements evaluateSub(Operation *op, ArrayRef<Elements> operands) {
  if (!operands[0].isInteger() || !operands[1].isInteger())
    return Elements::unknown();
  std::optional<Affine> negated = scale(operands[1].integer, -1);
  if (!negated)
    return Elements::unknown();
  return Elements::ofInteger(add(operands[0].integer, *negated),
                             resultShape(op));
}

Elements evaluateMul(Operation *op, ArrayRef<Elements> operands) {
  if (!operands[0].isInteger() || !operands[1].isInteger())
    return Elements::unknown();
  for (unsigned i : {0u, 1u})
    if (std::optional<int64_t> factor = operands[i].integer.asConstant())
      return Elements::ofInteger(scale(operands[1 - i].integer, *factor),
                                 resultShape(op));
  return Elements::unknown();
}

Elements evaluateNeg(Operation *op, ArrayRef<Elements> operands) {
  if (!operands[0].isInteger())
    return Elements::unknown();
  return Elements::ofInteger(scale(operands[0].integer, -1), resultShape(op));
}

Elements evaluateAbs(Operation *op, ArrayRef<Elements> operands) {
  if (!operands[0].isInteger())
    return Elements::unknown();
  return Elements::ofMagnitude(operands[0].integer, resultShape(op));
}

/// Between integers, and from bools that are the same everywhere.
Elements evaluateCast(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> shape = resultShape(op);
  bool toBoolean = isBoolean(op->getResult(0));
  if (operands[0].isBoolean() && !toBoolean) {
    std::optional<bool> value = operands[0].asBoolean();
    return value ? Elements::ofInteger(Affine::number(*value, shape.size()),
                                       shape)
                 : Elements::unknown();
  }
  bool isNumber =
      operands[0].isInteger() || operands[0].kind == Elements::Kind::Magnitude;
  if (isNumber && toBoolean) {
    Elements zero = isZero(operands[0].integer, shape);
    return complement(zero, shape);
  }
  return operands[0];
}

/// A constant adds up along the dim; over a whole dim it is multiplied.
Elements evaluateCumsum(Operation *op, ArrayRef<Elements> operands) {
  auto cumsum = cast<CumsumOp>(op);
  ArrayRef<int64_t> shape = resultShape(op);
  if (!operands[0].isInteger() || cumsum.getReverse())
    return Elements::unknown();
  std::optional<int64_t> number = operands[0].integer.asConstant();
  if (!number)
    return Elements::unknown();
  Affine places = Affine::coordinate(cumsum.getDim(), shape.size());
  places.constant = 1;
  return Elements::ofInteger(scale(places, *number), shape);
}

Elements evaluateReduceSum(Operation *op, ArrayRef<Elements> operands) {
  if (!operands[0].isInteger())
    return Elements::unknown();
  std::optional<int64_t> number = operands[0].integer.asConstant();
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), shape = resultShape(op);
  for (int64_t dim : cast<ReduceSumOp>(op).getDims())
    if (int64_t sum; number) {
      bool overflow = __builtin_mul_overflow(*number, from[dim], &sum);
      number = overflow ? std::nullopt : std::optional(sum);
    }
  if (!number)
    return Elements::unknown();
  return Elements::ofInteger(Affine::number(*number, shape.size()), shape);
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

/// a ≥ b + by.
Elements atLeast(const Affine &a, const Affine &b, int64_t by,
                 ArrayRef<int64_t> shape) {
  std::optional<Affine> negated = scale(b, -1);
  std::optional<Affine> difference = negated ? add(a, *negated) : std::nullopt;
  if (!difference ||
      __builtin_sub_overflow(difference->constant, by, &difference->constant))
    return Elements::unknown();
  return isNotNegative(*difference, shape);
}

/// |a| ≤ b - by.
Elements magnitudeAtMost(const Affine &a, const Affine &b, int64_t by,
                         ArrayRef<int64_t> shape) {
  std::optional<Affine> negated = scale(a, -1);
  if (!negated)
    return Elements::unknown();
  return conjunction(atLeast(b, a, by, shape), atLeast(b, *negated, by, shape),
                     shape);
}

/// Comparisons of a magnitude on the left.
Elements compareMagnitude(ComparePredicate predicate, const Affine &a,
                          const Affine &b, ArrayRef<int64_t> shape) {
  switch (predicate) {
  case ComparePredicate::LE:
    return magnitudeAtMost(a, b, 0, shape);
  case ComparePredicate::LT:
    return magnitudeAtMost(a, b, 1, shape);
  case ComparePredicate::GT:
    return complement(magnitudeAtMost(a, b, 0, shape), shape);
  case ComparePredicate::GE:
    return complement(magnitudeAtMost(a, b, 1, shape), shape);
  default:
    return Elements::unknown();
  }
}

Elements evaluateCompare(Operation *op, ArrayRef<Elements> operands) {
  ArrayRef<int64_t> shape = resultShape(op);
  if (operands[0].kind == Elements::Kind::Magnitude && operands[1].isInteger())
    return compareMagnitude(cast<CompareOp>(op).getPredicate(),
                            operands[0].integer, operands[1].integer, shape);
  if (!operands[0].isInteger() || !operands[1].isInteger())
    return Elements::unknown();
  const Affine &a = operands[0].integer, &b = operands[1].integer;
  switch (cast<CompareOp>(op).getPredicate()) {
  case ComparePredicate::GE:
    return atLeast(a, b, 0, shape);
  case ComparePredicate::GT:
    return atLeast(a, b, 1, shape);
  case ComparePredicate::LE:
    return atLeast(b, a, 0, shape);
  case ComparePredicate::LT:
    return atLeast(b, a, 1, shape);
  case ComparePredicate::EQ:
  case ComparePredicate::NE: {
    Elements equal =
        conjunction(atLeast(a, b, 0, shape), atLeast(b, a, 0, shape), shape);
    bool negate = cast<CompareOp>(op).getPredicate() == ComparePredicate::NE;
    return negate ? complement(equal, shape) : equal;
  }
  }
  return Elements::unknown();
}

Elements evaluateAnd(Operation *op, ArrayRef<Elements> operands) {
  return conjunction(operands[0], operands[1], resultShape(op));
}

Elements evaluateOr(Operation *op, ArrayRef<Elements> operands) {
  return disjunction(operands[0], operands[1], resultShape(op));
}

Elements evaluateNot(Operation *op, ArrayRef<Elements> operands) {
  return complement(operands[0], resultShape(op));
}

Elements evaluateSelect(Operation *op, ArrayRef<Elements> operands) {
  if (std::optional<bool> condition = operands[0].asBoolean())
    return operands[*condition ? 1 : 2];
  if (operands[1] == operands[2])
    return operands[1];
  ArrayRef<int64_t> shape = resultShape(op);
  return disjunction(
      conjunction(operands[0], operands[1], shape),
      conjunction(complement(operands[0], shape), operands[2], shape), shape);
}

/// The same function of the same coordinates.
Elements evaluateAsOperand(Operation *, ArrayRef<Elements> operands) {
  return operands[0];
}

} // namespace

CoordinateRule smp::coordinateRuleFor(StringRef opName) {
  static const llvm::StringMap<CoordinateRule> rules = {
      {FillOp::getOperationName(), evaluateFill},
      {IotaOp::getOperationName(), evaluateIota},
      {ConstantOp::getOperationName(), evaluateConstant},
      {ExpandOp::getOperationName(), evaluateExpand},
      {ReshapeOp::getOperationName(), evaluateReshape},
      {TransposeOp::getOperationName(), evaluateTranspose},
      {SliceOp::getOperationName(), evaluateSlice},
      {ConcatOp::getOperationName(), evaluateConcat},
      {IndexOp::getOperationName(), evaluateIndex},
      {GatherOp::getOperationName(), evaluateGather},
      {AddOp::getOperationName(), evaluateAdd},
      {SubOp::getOperationName(), evaluateSub},
      {MulOp::getOperationName(), evaluateMul},
      {NegOp::getOperationName(), evaluateNeg},
      {AbsOp::getOperationName(), evaluateAbs},
      {CastOp::getOperationName(), evaluateCast},
      {CumsumOp::getOperationName(), evaluateCumsum},
      {ReduceSumOp::getOperationName(), evaluateReduceSum},
      {CompareOp::getOperationName(), evaluateCompare},
      {AndOp::getOperationName(), evaluateAnd},
      {OrOp::getOperationName(), evaluateOr},
      {NotOp::getOperationName(), evaluateNot},
      {SelectOp::getOperationName(), evaluateSelect},
      {StopGradientOp::getOperationName(), evaluateAsOperand},
  };
  return rules.lookup(opName);
}

CoordinateEvaluator::CoordinateEvaluator(Block &block) {
  for (Operation &op : block) {
    if (op.getNumResults() == 0)
      continue;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    CoordinateRule rule = coordinateRuleFor(op.getName().getStringRef());
    if (!rule || !type || !isa<IntegerType>(type.getElementType()))
      continue;
    SmallVector<Elements> operands;
    for (Value operand : op.getOperands())
      operands.push_back(of(operand));
    Elements result = rule(&op, operands);
    if (result.kind != Elements::Kind::Unknown)
      values[op.getResult(0)] = std::move(result);
  }
}

const Elements &CoordinateEvaluator::of(Value value) const {
  static const Elements unknown;
  auto found = values.find(value);
  return found == values.end() ? unknown : found->second;
}
