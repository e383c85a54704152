//===- ImportReductions.cpp - Import of sums, means and maxima ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

static LogicalResult importSum(NodeImporter &n) {
  Tensor operand = convert(n, n.tensor("self"), n.resultElement());
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  if (n.refused())
    return failure();
  if (operand.rank() == 0)
    return n.give(operand);
  return n.give(n.reduce<ReduceSumOp>(operand, dims, keep));
}

static LogicalResult importMax(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  if (n.refused())
    return failure();
  if (operand.rank() == 0)
    return n.give(operand);
  return n.give(n.reduce<ReduceMaxOp>(operand, dims, keep));
}

/// The number of elements over `dims`; none if it depends on the batch.
static std::optional<int64_t> extent(const Tensor &operand,
                                     ArrayRef<int64_t> dims) {
  Shape reduced;
  for (int64_t dim : dims)
    reduced.push_back(operand.shape[dim]);
  std::optional<pt2::SizeExpr> count = elementsOf(reduced);
  return count ? count->constant() : std::nullopt;
}

static Tensor meanOver(NodeImporter &n, Tensor operand, ArrayRef<int64_t> dims,
                       bool keep, double count) {
  Tensor sum = n.reduce<ReduceSumOp>(operand, dims, keep);
  return n.binary<DivOp>(sum, n.fill(count, sum.element(), sum.shape));
}

static LogicalResult importMean(NodeImporter &n) {
  Tensor operand = convert(n, n.tensor("self"), n.resultElement());
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  if (n.refused())
    return failure();
  bool isLoss = n.state.fixedBatch > 0 && !keep && operand.rank() > 0 &&
                int64_t(dims.size()) == operand.rank() && batchDim(n, operand);
  std::optional<int64_t> count = extent(operand, dims);
  if (count && !isLoss)
    return n.give(dims.empty() ? operand
                               : meanOver(n, operand, dims, keep, *count));
  // A mean over the batch is a term of the loss: another batch must weigh its
  // sum by the same count.
  if (int64_t(dims.size()) != operand.rank() || keep)
    return n.refuse("over the batch whose result is no scalar");
  return n.give(meanLoss(n, operand));
}

/// Σ (x - mean)² / (count - correction).
static LogicalResult importVar(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  double correction = n.number("correction", 1.0);
  std::optional<int64_t> count = extent(operand, dims);
  if (n.refused() || !count || dims.empty() || *count <= correction)
    return n.refuse("over the batch, or over too few elements");
  Tensor mean = meanOver(n, operand, dims, /*keep=*/true, *count);
  Tensor deviation = n.binary<SubOp>(operand, n.broadcast(mean, operand.shape));
  Tensor square = n.binary<MulOp>(deviation, deviation);
  return n.give(meanOver(n, square, dims, keep, *count - correction));
}

static LogicalResult importCumsum(NodeImporter &n) {
  Tensor operand = convert(n, n.tensor("self"), n.resultElement());
  if (operand.rank() == 0)
    return n.give(operand);
  int64_t dim = n.dim("dim", 0, operand.rank());
  if (n.refused())
    return failure();
  return n.give({CumsumOp::create(n.builder, n.loc, operand.type(),
                                  operand.value, dim, /*reverse=*/false),
                 operand.shape});
}

ArrayRef<ImportRule> smp::reductionRules() {
  static const ImportRule rules[] = {
      {"aten.sum.default", importSum, "self"},
      {"aten.sum.dim_IntList", importSum, "self"},
      {"aten.amax.default", importMax, "self"},
      {"aten.mean.default", importMean, "self"},
      {"aten.mean.dim", importMean, "self"},
      {"aten.var.correction", importVar, "self"},
      {"aten.cumsum.default", importCumsum, "self"},
  };
  return rules;
}
