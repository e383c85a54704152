//===- ImportConstants.cpp - Import of tensors made from nothing ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"

using namespace mlir;
using namespace smp;

static LogicalResult fillResult(NodeImporter &n, double value) {
  Type element = n.resultElement();
  if (n.refused())
    return failure();
  return n.give(n.fill(value, element, n.resultShape()));
}

static LogicalResult importZeros(NodeImporter &n) { return fillResult(n, 0.0); }

static LogicalResult importOnes(NodeImporter &n) { return fillResult(n, 1.0); }

static LogicalResult importFull(NodeImporter &n) {
  return fillResult(n, n.number("fill_value", 0.0));
}

static LogicalResult importScalarTensor(NodeImporter &n) {
  return fillResult(n, n.number("s", 0.0));
}

/// start, start + step, ...
static LogicalResult importArange(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  if (n.refused() || shape.size() != 1)
    return n.refuse("whose result is no vector");
  Tensor result = n.cast(n.iota(0, n.builder.getI64Type(), shape), element);
  if (double step = n.number("step", 1.0); step != 1.0)
    result = n.binary<MulOp>(result, n.fill(step, element, shape));
  if (double start = n.number("start", 0.0); start != 0.0)
    result = n.binary<AddOp>(result, n.fill(start, element, shape));
  if (n.refused())
    return failure();
  return n.give(result);
}

/// Even steps from start to end, as PyTorch takes them: the first half counted
/// from the start, the others from the end, so that both are met exactly.
static LogicalResult importLinspace(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  double start = n.number("start", 0.0), end = n.number("end", 0.0);
  int64_t steps = n.integer("steps", 0);
  if (n.refused() || shape.size() != 1 || !isa<FloatType>(element))
    return n.refuse("of integers");
  double step = steps > 1 ? (end - start) / double(steps - 1) : 0.0;
  auto number = [&](double value) { return n.fill(value, element, shape); };
  Tensor place = n.iota(0, n.builder.getI64Type(), shape);
  int64_t half = steps / 2;
  Tensor isFirst =
      n.compare(ComparePredicate::LT, place,
                n.fill(double(half), n.builder.getI64Type(), shape));
  Tensor index = n.cast(place, element);
  Tensor first =
      n.binary<AddOp>(n.binary<MulOp>(index, number(step)), number(start));
  Tensor left = n.binary<SubOp>(number(double(steps - 1)), index);
  Tensor last = n.binary<SubOp>(number(steps > 1 ? end : start),
                                n.binary<MulOp>(left, number(step)));
  return n.give(n.select(isFirst, first, last));
}

/// One where row and column are the same.
static LogicalResult importEye(NodeImporter &n) {
  Type element = n.resultElement(), index = n.builder.getI64Type();
  const Shape &shape = n.resultShape();
  if (n.refused())
    return failure();
  Tensor isSame = n.compare(ComparePredicate::EQ, n.iota(0, index, shape),
                            n.iota(1, index, shape));
  return n.give(n.cast(isSame, element));
}

ArrayRef<ImportRule> smp::constantRules() {
  static const ImportRule rules[] = {
      {"aten.zeros.default", importZeros, ""},
      {"aten.zeros_like.default", importZeros, ""},
      {"aten.zero.default", importZeros, ""},
      {"aten.new_zeros.default", importZeros, ""},
      {"aten.ones.default", importOnes, ""},
      {"aten.ones_like.default", importOnes, ""},
      {"aten.new_ones.default", importOnes, ""},
      {"aten.full.default", importFull, ""},
      {"aten.full_like.default", importFull, ""},
      {"aten.new_full.default", importFull, ""},
      {"aten.scalar_tensor.default", importScalarTensor, ""},
      {"aten.arange.default", importArange, ""},
      {"aten.arange.start", importArange, ""},
      {"aten.arange.start_step", importArange, ""},
      {"aten.linspace.default", importLinspace, ""},
      {"aten.eye.default", importEye, ""},
      {"aten.eye.m", importEye, ""},
  };
  return rules;
}
