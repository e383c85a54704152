//===- FoldAttentionMasks.cpp - Masks as predicates of positions ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an attention adds to its scores may hold masks: a bool tensor, or a
// choice between what is added and a number so low that no weight is left. They
// are taken off layer by layer,
//
//   select(seen, bias, -3.4e38)      a choice
//   bias + select(seen, 0, -3.4e38)  a choice, added
//
// and what they say together becomes the mask attribute where it can say it.
// What is left is the bias: with T5 the learned one, else nothing. A layer that
// depends on data stays, with what is below it.
//
//===----------------------------------------------------------------------===//

#include "CoordinateRules.h"
#include "RecoverPatterns.h"
#include "SpecializeSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

/// A bias as a condition under which another bias, or none, is added.
struct Layer {
  Value condition, below;
};

} // namespace

/// Low enough for the exponential to be zero whatever the score.
static constexpr double kNever = -1e30;

/// Without expands that only repeat what broadcasts.
static Value withoutRepeats(Value bias) {
  auto expand = bias.getDefiningOp<ExpandOp>();
  return expand && typeOf(expand.getOperand()).getRank() == 4
             ? expand.getOperand()
             : bias;
}

/// Without conversions between floating types either.
static Value withoutCasts(Value bias) {
  bias = withoutRepeats(bias);
  while (Value operand = operandOf<CastOp>(bias)) {
    if (!isa<FloatType>(typeOf(operand).getElementType()))
      break;
    bias = withoutRepeats(operand);
  }
  return bias;
}

/// select(condition, below, low).
static std::optional<Layer> choice(Value bias) {
  auto select = withoutCasts(bias).getDefiningOp<SelectOp>();
  if (!select)
    return std::nullopt;
  std::optional<double> never = uniformValue(select.getOnFalse());
  if (!never || *never > kNever)
    return std::nullopt;
  return Layer{select.getCondition(), select.getOnTrue()};
}

/// The outermost layer of a bias, or none.
static std::optional<Layer> peel(Value bias) {
  if (isBoolean(bias))
    return Layer{bias, Value()};
  if (std::optional<Layer> layer = choice(bias))
    return layer;
  auto add = withoutCasts(bias).getDefiningOp<AddOp>();
  if (!add)
    return std::nullopt;
  for (unsigned i : {0u, 1u})
    if (std::optional<Layer> layer = choice(add->getOperand(i)))
      if (uniformValue(layer->below) == 0.0)
        return Layer{layer->condition, add->getOperand(1 - i)};
  return std::nullopt;
}

/// Where the attribute lets keys be seen, over [B, H, S, T].
static Elements elementsOf(MaskAttr mask, ArrayRef<int64_t> shape) {
  auto notNegative = [&](int64_t query, int64_t key, int64_t constant) {
    return isNotNegative({constant, {0, 0, query, key}}, shape);
  };
  switch (mask.getKind()) {
  case MaskKind::None:
    return Elements::ofBoolean(true);
  case MaskKind::Causal:
    return notNegative(1, -1, 0);
  case MaskKind::Window:
    return conjunction(notNegative(-1, 1, mask.getFirst()),
                       notNegative(1, -1, mask.getSecond()), shape);
  case MaskKind::Prefix:
    return disjunction(notNegative(1, -1, 0),
                       notNegative(0, -1, mask.getFirst() - 1), shape);
  }
  llvm_unreachable("all kinds of masks are functions");
}

/// The numbers n of the conditions n + query·q + key·k ≥ 0.
static std::optional<int64_t> boundOf(const Elements &mask, int64_t query,
                                      int64_t key) {
  for (const Conditions &conditions : mask.alternatives)
    for (const Affine &condition : conditions)
      if (condition.coefficients == std::vector<int64_t>{0, 0, query, key})
        return condition.constant;
  return std::nullopt;
}

/// The attribute that says the same; null where none does.
static MaskAttr attributeOf(MLIRContext *context, const Elements &mask,
                            ArrayRef<int64_t> shape) {
  if (!mask.isBoolean())
    return {};
  // A bound that always holds is none; the widest window has it.
  int64_t behind = boundOf(mask, -1, 1).value_or(shape[2] - 1);
  int64_t ahead = boundOf(mask, 1, -1).value_or(shape[3] - 1);
  int64_t last = boundOf(mask, 0, -1).value_or(-1);
  for (auto [kind, first, second] :
       {std::tuple(MaskKind::None, int64_t(0), int64_t(0)),
        std::tuple(MaskKind::Causal, int64_t(0), int64_t(0)),
        std::tuple(MaskKind::Window, behind, ahead),
        std::tuple(MaskKind::Prefix, last + 1, int64_t(0))}) {
    if (first < 0 || second < 0)
      continue;
    auto attribute = MaskAttr::get(context, kind, first, second);
    if (elementsOf(attribute, shape) == mask)
      return attribute;
  }
  return {};
}

/// The coordinates of what broadcasts to `shape` there.
static std::vector<Affine> placesIn(ArrayRef<int64_t> from,
                                    ArrayRef<int64_t> shape) {
  std::vector<Affine> places;
  for (auto [dim, size] : llvm::enumerate(from))
    places.push_back(size == 1 ? Affine::number(0, shape.size())
                               : Affine::coordinate(dim, shape.size()));
  return places;
}

/// Whether each query sees a key. Adding a low number everywhere changes no
/// weight, but a mask leaves none.
static bool allSeeSomething(MaskAttr mask, ArrayRef<int64_t> shape) {
  for (int64_t query = 0; query < shape[2]; ++query)
    if (mask.firstKey(query) >= mask.endKey(query, shape[3]))
      return false;
  return true;
}

/// The bias in the type that it had above its layers.
static Value ofType(AttentionOp op, Value bias, Type element) {
  if (typeOf(bias).getElementType() == element)
    return bias;
  OpBuilder builder(op);
  auto cast =
      CastOp::create(builder, op.getLoc(), typeOf(bias).clone(element), bias);
  copyScope(op, cast);
  return cast;
}

static void foldMask(AttentionOp op, const CoordinateEvaluator &evaluator) {
  int64_t shape[] = {
      typeOf(op.getQuery()).getDimSize(0), typeOf(op.getQuery()).getDimSize(1),
      typeOf(op.getQuery()).getDimSize(2), typeOf(op.getKey()).getDimSize(2)};
  Elements mask = elementsOf(op.getMask(), shape);
  Value bias = op.getBias();
  while (bias && uniformValue(bias) != 0.0) {
    std::optional<Layer> layer = peel(bias);
    if (!layer)
      break;
    ArrayRef<int64_t> own = typeOf(layer->condition).getShape();
    Elements seen =
        evaluator.of(layer->condition).at(placesIn(own, shape), shape);
    Elements both = conjunction(mask, seen, shape);
    MaskAttr attribute = attributeOf(op.getContext(), both, shape);
    if (!attribute || (layer->below && !allSeeSomething(attribute, shape)))
      break;
    mask = both;
    op.setMaskAttr(attribute);
    bias = layer->below ? withoutRepeats(layer->below) : Value();
  }
  if (bias && uniformValue(bias) != 0.0)
    op.getBiasMutable().assign(
        ofType(op, bias, typeOf(op.getBias()).getElementType()));
  else
    op.getBiasMutable().clear();
}

void smp::foldAttentionMasks(func::FuncOp function) {
  CoordinateEvaluator evaluator(function.getBody().front());
  function.walk([&](AttentionOp op) { foldMask(op, evaluator); });
}
