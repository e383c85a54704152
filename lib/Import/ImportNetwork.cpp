//===- ImportNetwork.cpp - Import of norms, attention and dropout ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace smp;
using llvm::APFloat;

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Whether the norm is over the last dim and no other.
static bool isOverLastDim(NodeImporter &n, const Tensor &operand) {
  std::vector<int64_t> shape = n.integers("normalized_shape");
  return !n.refused() && operand.rank() > 0 && shape.size() == 1 &&
         operand.shape.back() == pt2::SizeExpr(shape.front());
}

static LogicalResult importLayerNorm(NodeImporter &n) {
  Tensor operand = n.tensor("input");
  if (!isOverLastDim(n, operand))
    return n.refuse("over more than the last dim");
  Shape rows(operand.shape.begin(), operand.shape.end() - 1);
  Type statistics = tensorType(operand.element(), rows);
  auto op = LayerNormOp::create(
      n.builder, n.loc, TypeRange{operand.type(), statistics, statistics},
      operand.value, n.optionalTensor("weight").value,
      n.optionalTensor("bias").value, APFloat(n.number("eps", 1e-5)));
  if (n.refused())
    return failure();
  return n.give({op.getResult(), operand.shape});
}

static LogicalResult importRmsNorm(NodeImporter &n) {
  Tensor operand = n.tensor("input");
  if (!isOverLastDim(n, operand))
    return n.refuse("over more than the last dim");
  auto element = dyn_cast<FloatType>(operand.element());
  if (!element)
    return n.refuse("of integers");
  // Without eps PyTorch takes the spacing of the type's numbers at 1.
  double spacing = std::ldexp(1.0, 1 - int(element.getFPMantissaWidth()));
  Shape rows(operand.shape.begin(), operand.shape.end() - 1);
  auto op = RmsNormOp::create(
      n.builder, n.loc, TypeRange{operand.type(), tensorType(element, rows)},
      operand.value, n.optionalTensor("weight").value,
      APFloat(n.number("eps", spacing)));
  if (n.refused())
    return failure();
  return n.give({op.getResult(), operand.shape});
}

/// Each group of channels of a sample is a row of a layer norm; weight and bias
/// are a channel's.
static LogicalResult importGroupNorm(NodeImporter &n) {
  Tensor operand = n.tensor("input");
  int64_t groups =
      n.isGiven("group") ? n.integer("group", 1) : n.integer("num_groups", 1);
  if (operand.rank() < 2 || n.isUsed(1) || n.isUsed(2))
    return n.refuse("without channels, or whose statistics are used");
  Shape inner(operand.shape.begin() + 1, operand.shape.end());
  std::optional<pt2::SizeExpr> count = elementsOf(inner);
  std::optional<int64_t> elements = count ? count->constant() : std::nullopt;
  if (n.refused() || !elements || groups < 1 || *elements % groups != 0)
    return n.refuse("of channels and places whose number is not known");
  Shape rows = {operand.shape[0], groups}, shape = rows;
  shape.emplace_back(*elements / groups);
  Tensor grouped = n.reshape(operand, shape);
  Type statistics = tensorType(operand.element(), rows);
  auto op = LayerNormOp::create(
      n.builder, n.loc, TypeRange{grouped.type(), statistics, statistics},
      grouped.value, Value(), Value(), APFloat(n.number("eps", 1e-5)));
  Tensor result = n.reshape({op.getResult(), shape}, operand.shape);
  if (Tensor weight = n.optionalTensor("weight"))
    result = n.binary<MulOp>(result, n.expand(weight, result.shape, {1}));
  if (Tensor bias = n.optionalTensor("bias"))
    result = n.binary<AddOp>(result, n.expand(bias, result.shape, {1}));
  return n.refused() ? failure() : n.give(result);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static LogicalResult importSoftmax(NodeImporter &n) {
  Tensor operand = n.cast(n.tensor("self"), n.resultElement());
  int64_t dim = n.dim("dim", -1, operand.rank());
  if (n.refused())
    return failure();
  int64_t last = operand.rank() - 1;
  Tensor result = n.unary<SoftmaxOp>(n.moveDim(operand, dim, last));
  return n.give(n.moveDim(result, last, dim));
}

Tensor smp::logSoftmax(NodeImporter &n, const Tensor &operand, int64_t dim) {
  Tensor max = n.reduce<ReduceMaxOp>(operand, {dim}, /*keep=*/true);
  Tensor shifted = n.binary<SubOp>(
      operand, n.broadcast(n.unary<StopGradientOp>(max), operand.shape));
  Tensor sum = n.reduce<ReduceSumOp>(n.unary<ExpOp>(shifted), {dim},
                                     /*keep=*/true);
  Tensor log = n.broadcast(n.unary<LogOp>(sum), operand.shape);
  return n.binary<SubOp>(shifted, log);
}

static LogicalResult importLogSoftmax(NodeImporter &n) {
  Tensor operand = n.cast(n.tensor("self"), n.resultElement());
  int64_t dim = n.dim("dim", -1, operand.rank());
  return n.refused() ? failure() : n.give(logSoftmax(n, operand, dim));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// With unit dims in front, or none, until it has rank 4.
static Tensor asRank4(NodeImporter &n, const Tensor &tensor) {
  Shape shape = tensor.shape;
  while (shape.size() < 4)
    shape.insert(shape.begin(), 1);
  return n.reshape(tensor, shape);
}

/// [B, S, D] as [B, 1, S, D].
static Tensor withHeads(NodeImporter &n, const Tensor &tensor) {
  Shape shape = tensor.shape;
  if (shape.size() == 3)
    shape.insert(shape.begin() + 1, 1);
  return n.reshape(tensor, shape);
}

/// The rows of dim 0 that belong to one sample, which are as many heads as
/// well, become heads: dropout draws by sample and the place in it.
static void gatherSamples(NodeImporter &n, Tensor &query, Tensor &key,
                          Tensor &value, Tensor &bias) {
  int64_t rows = rowsPerSample(n, query);
  auto samples = pt2::SizeExpr::divide(query.shape[0], rows);
  if (rows == 1 || !samples)
    return;
  auto gathered = [&](const Tensor &tensor) {
    Shape shape = tensor.shape;
    shape[0] = *samples;
    shape[1] = *pt2::SizeExpr::multiply(shape[1], rows);
    return n.reshape(tensor, shape);
  };
  if (bias && (bias.shape[0] != 1 || bias.shape[1] != 1)) {
    Shape shape = bias.shape;
    std::copy_n(query.shape.begin(), 2, shape.begin());
    bias = gathered(n.broadcast(bias, shape));
  }
  query = gathered(query);
  key = gathered(key);
  value = gathered(value);
}

static LogicalResult importAttention(NodeImporter &n) {
  Tensor query = withHeads(n, n.tensor("query")),
         key = withHeads(n, n.tensor("key")),
         value = withHeads(n, n.tensor("value"));
  if (query.rank() != 4 || key.rank() != 4 || value.rank() != 4)
    return n.refuse("of tensors of rank " + Twine(query.rank()));
  std::optional<int64_t> size = query.shape.back().constant();
  if (!size || *size == 0)
    return n.refuse("without a head size");
  Tensor bias = n.optionalTensor("attn_mask");
  if (bias)
    bias = asRank4(n, bias);
  if (!n.flag("enable_gqa", false) && key.shape[1] != query.shape[1])
    return n.refuse("with grouped queries but without enable_gqa");
  double dropout = n.number("dropout_p", 0.0);
  if (dropout != 0.0)
    gatherSamples(n, query, key, value, bias);
  auto mask = MaskAttr::get(n.builder.getContext(), n.flag("is_causal", false)
                                                        ? MaskKind::Causal
                                                        : MaskKind::None);
  double scale = n.number("scale", 1.0 / std::sqrt(double(*size)));
  if (n.refused())
    return failure();
  Shape shape = query.shape, rows(shape.begin(), shape.end() - 1);
  shape.back() = value.shape.back();
  Type element = query.element();
  auto op = AttentionOp::create(
      n.builder, n.loc,
      TypeRange{tensorType(element, shape), tensorType(element, rows)},
      query.value, key.value, value.value, bias.value, mask, APFloat(scale),
      APFloat(dropout), dropout == 0.0 ? 0 : ++n.state.sites);
  return n.give(n.reshape({op.getResult(), shape}, n.resultShape()));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static LogicalResult importDropout(NodeImporter &n) {
  Tensor operand = n.tensor("input");
  double probability = n.number("p", 0.5);
  bool train = n.flag("train", true);
  if (n.isUsed(1))
    return n.refuse("whose mask is used");
  if (n.refused())
    return failure();
  if (!train || probability == 0.0)
    return n.give(operand);
  // Numbers are drawn by sample: the dim of the samples comes first.
  int64_t samples = batchDim(n, operand).value_or(0);
  operand = n.swapDims(operand, 0, samples);
  Tensor dropped = {DropoutOp::create(n.builder, n.loc, operand.type(),
                                      operand.value, APFloat(probability),
                                      ++n.state.sites,
                                      rowsPerSample(n, operand)),
                    operand.shape};
  return n.give(n.swapDims(dropped, 0, samples));
}

ArrayRef<ImportRule> smp::networkRules() {
  static const ImportRule rules[] = {
      {"aten.layer_norm.default", importLayerNorm, "input"},
      {"aten.group_norm.default", importGroupNorm, "input"},
      {"aten.native_group_norm.default", importGroupNorm, "input"},
      {"aten.rms_norm.default", importRmsNorm, "input"},
      {"aten.softmax.int", importSoftmax, "self"},
      {"aten._softmax.default", importSoftmax, "self"},
      {"aten.log_softmax.int", importLogSoftmax, "self"},
      {"aten._log_softmax.default", importLogSoftmax, "self"},
      {"aten.scaled_dot_product_attention.default", importAttention,
       "query key value"},
      {"aten.dropout.default", importDropout, "input"},
      {"aten.native_dropout.default", importDropout, "input"},
  };
  return rules;
}
