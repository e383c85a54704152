//===- ImportReductions.cpp - Import of sums, means and maxima ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

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

static LogicalResult importMin(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  if (n.refused())
    return failure();
  if (operand.rank() == 0)
    return n.give(operand);
  if (!isa<FloatType>(operand.element()))
    return n.refuse("of integers");
  Tensor largest = n.reduce<ReduceMaxOp>(n.unary<NegOp>(operand), dims, keep);
  return n.give(n.unary<NegOp>(largest));
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

static Tensor meanOver(NodeImporter &n, const Tensor &operand,
                       ArrayRef<int64_t> dims, bool keep, double count) {
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

/// Σ (x - mean)² / (count - correction); null if refused.
static Tensor variance(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  double correction =
      n.number("correction", n.flag("unbiased", true) ? 1.0 : 0.0);
  std::optional<int64_t> count = extent(operand, dims);
  if (n.refused() || !count || dims.empty() || *count <= correction) {
    (void)n.refuse("over the batch, or over too few elements");
    return {};
  }
  Tensor mean = meanOver(n, operand, dims, /*keep=*/true, *count);
  Tensor deviation = n.binary<SubOp>(operand, n.broadcast(mean, operand.shape));
  Tensor square = n.binary<MulOp>(deviation, deviation);
  return meanOver(n, square, dims, keep, *count - correction);
}

static LogicalResult importVar(NodeImporter &n) {
  Tensor result = variance(n);
  return result ? n.give(result) : failure();
}

static LogicalResult importStd(NodeImporter &n) {
  Tensor result = variance(n);
  return result ? n.give(n.unary<SqrtOp>(result)) : failure();
}

/// max + log Σ exp(x - max), where an infinite maximum counts as 0.
static LogicalResult importLogSumExp(NodeImporter &n) {
  Tensor operand = convert(n, n.tensor("self"), n.resultElement());
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  if (n.refused())
    return failure();
  if (!extent(operand, dims))
    return n.refuse("over the batch");
  Tensor max = n.unary<StopGradientOp>(
      n.reduce<ReduceMaxOp>(operand, dims, /*keep=*/true));
  Tensor infinity =
      n.fill(std::numeric_limits<double>::infinity(), max.element(), max.shape);
  Tensor zero = n.fill(0.0, max.element(), max.shape);
  max = n.select(n.compare(ComparePredicate::EQ, n.unary<AbsOp>(max), infinity),
                 zero, max);
  Tensor shifted = n.binary<SubOp>(operand, n.broadcast(max, operand.shape));
  Tensor sum = n.reduce<ReduceSumOp>(n.unary<ExpOp>(shifted), dims,
                                     /*keep=*/true);
  Tensor result = n.binary<AddOp>(n.unary<LogOp>(sum), max);
  return n.give(keep ? result : n.reshape(result, n.resultShape()));
}

/// √Σ x². Where all x are 0 the gradient is 0, as in PyTorch, so that the root
/// is not taken there.
static Tensor euclidean(NodeImporter &n, const Tensor &operand,
                        ArrayRef<int64_t> dims, bool keep) {
  Tensor sum =
      n.reduce<ReduceSumOp>(n.binary<MulOp>(operand, operand), dims, keep);
  Tensor zero = n.fill(0.0, sum.element(), sum.shape);
  Tensor one = n.fill(1.0, sum.element(), sum.shape);
  Tensor isZero = n.compare(ComparePredicate::EQ, sum, zero);
  Tensor root = n.unary<SqrtOp>(n.select(isZero, one, sum));
  return n.select(isZero, zero, root);
}

static LogicalResult importVectorNorm(NodeImporter &n) {
  Tensor operand = convert(n, n.tensor("self"), n.resultElement());
  SmallVector<int64_t> dims = n.dims("dim", operand.rank());
  bool keep = n.flag("keepdim", false);
  double order = n.number("ord", 2.0);
  if (n.refused())
    return failure();
  if (!extent(operand, dims))
    return n.refuse("over the batch");
  if (order == 2.0)
    return n.give(euclidean(n, operand, dims, keep));
  Tensor size = n.unary<AbsOp>(operand);
  if (order == 1.0)
    return n.give(n.reduce<ReduceSumOp>(size, dims, keep));
  return n.refuse("of an order that is neither 1 nor 2");
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
      {"aten.max.default", importMax, "self"},
      {"aten.amin.default", importMin, "self"},
      {"aten.min.default", importMin, "self"},
      {"aten.mean.default", importMean, "self"},
      {"aten.mean.dim", importMean, "self"},
      {"aten.var.correction", importVar, "self"},
      {"aten.var.dim", importVar, "self"},
      {"aten.std.correction", importStd, "self"},
      {"aten.std.dim", importStd, "self"},
      {"aten.logsumexp.default", importLogSumExp, "self"},
      {"aten.linalg_vector_norm.default", importVectorNorm, "self"},
      {"aten.cumsum.default", importCumsum, "self"},
  };
  return rules;
}
