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
  };
  return rules;
}
