//===- RandomBlocks.cpp - The pieces of random models ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomBlocks.h"
#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

RandomBlocks::RandomBlocks(ModuleOp module, func::FuncOp function,
                           const RandomShape &shape, uint64_t seed,
                           bool dropout)
    : module(module), function(function), shape(shape), random(seed),
      dropout(dropout),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())) {}

Value RandomBlocks::pickValue() {
  int64_t last = values.size() - 1;
  return values[std::max(pick(0, last), pick(0, last))];
}

RankedTensorType RandomBlocks::floats(ArrayRef<int64_t> dims) {
  return RankedTensorType::get(dims, builder.getF32Type());
}

//===----------------------------------------------------------------------===//
// Parameters and small expressions
//===----------------------------------------------------------------------===//

Value RandomBlocks::parameter(StringRef name, ArrayRef<int64_t> dims) {
  std::string symbol = scope.empty() ? name.str() : scope + "." + name.str();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(module.lookupSymbol("train"));
    auto init = InitAttr::get(builder.getContext(), InitKind::Normal, 0.0, 0.1);
    ParameterOp::create(builder, module.getLoc(), symbol, floats(dims),
                        /*frozen=*/false, init, builder.getStrArrayAttr({}));
  }
  return create<GetParameterOp>(floats(dims), symbol, symbol);
}

Value RandomBlocks::tied(StringRef name, StringRef alias) {
  auto owner = module.lookupSymbol<ParameterOp>(name);
  if (owner.getAliases().empty())
    owner.setAliasesAttr(builder.getStrArrayAttr({alias}));
  return create<GetParameterOp>(owner.getType(), name, alias);
}

Value RandomBlocks::fill(Value like, double value) {
  return create<FillOp>(like.getType(), APFloat(value), ValueRange());
}

Value RandomBlocks::expandVector(Value vector, Value like) {
  int64_t last = cast<RankedTensorType>(like.getType()).getRank() - 1;
  return create<ExpandOp>(like.getType(), vector, ArrayRef<int64_t>{last},
                          ValueRange());
}

Value RandomBlocks::linear(Value x, StringRef name, int64_t width) {
  int64_t from = cast<RankedTensorType>(x.getType()).getShape().back();
  bool transposed = pick(0, 1);
  SmallVector<int64_t> dims = {width, from};
  if (transposed)
    std::swap(dims[0], dims[1]);
  Value weight = parameter((name + ".weight").str(), dims);
  Value y = create<LinearOp>(x, weight, transposed);
  if (pick(0, 2) == 0)
    return y;
  return create<AddOp>(
      y, expandVector(parameter((name + ".bias").str(), {width}), y));
}

Value RandomBlocks::maybeDropout(Value x) {
  // The draw is made in any case, so that both graphs have the same blocks.
  bool wanted = pick(0, 1);
  ++site;
  if (!dropout || !wanted)
    return x;
  return create<DropoutOp>(x, APFloat(0.25), site);
}

/// [B, S, C] to [B, heads, S, C / heads].
Value RandomBlocks::heads(Value x) {
  Value split = create<ReshapeOp>(floats({shape.rows, shape.length, shape.heads,
                                          shape.width / shape.heads}),
                                  x, ValueRange());
  return create<TransposeOp>(split, ArrayRef<int64_t>{0, 2, 1, 3});
}

Value RandomBlocks::merge(Value x) {
  Value back = create<TransposeOp>(x, ArrayRef<int64_t>{0, 2, 1, 3});
  return create<ReshapeOp>(floats({shape.rows, shape.length, shape.width}),
                           back, ValueRange());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value RandomBlocks::activation(Value x) {
  switch (pick(0, 6)) {
  case 0:
    return create<TanhOp>(x);
  case 1:
    return create<SigmoidOp>(x);
  case 2:
    return create<SiluOp>(x);
  case 3:
    return create<GeluOp>(x, GeluApproximation::Tanh);
  case 4:
    return create<GeluOp>(x);
  case 5:
    return create<ReluOp>(x);
  default:
    return create<SinOp>(create<MulOp>(x, fill(x, 1.5)).getResult());
  }
}

Value RandomBlocks::mlp(Value x) {
  Value hidden = activation(linear(x, "up", pick(2, 2 * shape.width)));
  return create<AddOp>(x, linear(maybeDropout(hidden), "down", shape.width));
}

Value RandomBlocks::norm(Value x) {
  Value weight = parameter("norm.weight", {shape.width});
  switch (pick(0, 2)) {
  case 0: {
    Value bias = pick(0, 1) ? parameter("norm.bias", {shape.width}) : Value();
    return create<LayerNormOp>(x, weight, bias, APFloat(1e-5)).getResult();
  }
  case 1:
    return create<RmsNormOp>(x, weight, APFloat(1e-6)).getResult();
  default:
    return create<SoftmaxOp>(create<MulOp>(x, expandVector(weight, x)))
        .getResult();
  }
}

MaskAttr RandomBlocks::mask() {
  MLIRContext *context = builder.getContext();
  switch (pick(0, 5)) {
  case 0:
    return MaskAttr::get(context, MaskKind::None);
  case 1:
    return MaskAttr::get(context, MaskKind::Window, pick(0, 2), pick(0, 1));
  case 2:
    return MaskAttr::get(context, MaskKind::Prefix, pick(1, shape.length));
  default:
    return MaskAttr::get(context, MaskKind::Causal);
  }
}

Value RandomBlocks::attention(Value x) {
  Value query = heads(linear(x, "query", shape.width));
  Value key = heads(linear(x, "key", shape.width));
  Value value = heads(linear(x, "value", shape.width));
  double scale = 1 / std::sqrt(double(shape.width) / shape.heads);
  MaskAttr seen = mask();
  bool drawn = pick(0, 1), drops = dropout && drawn;
  // A learned bias broadcasts over the batch, and sometimes over the heads.
  Value bias;
  if (pick(0, 2) == 0)
    bias = parameter(
        "bias", {1, pick(0, 1) ? shape.heads : 1, shape.length, shape.length});
  ++site;
  Value mixed =
      create<AttentionOp>(query, key, value, bias, seen, APFloat(scale),
                          APFloat(drops ? 0.25 : 0.0), drops ? site : 0)
          .getResult();
  return create<AddOp>(x, linear(merge(mixed), "out", shape.width));
}

/// Two values: what skips blocks comes from here.
Value RandomBlocks::combination(Value x) {
  Value other = pickValue();
  switch (pick(0, 4)) {
  case 0:
    return create<SubOp>(x, other);
  case 1:
    return create<MulOp>(x, create<TanhOp>(other).getResult());
  case 2:
    return create<MaximumOp>(x, other);
  case 3: {
    Value larger = create<CompareOp>(ComparePredicate::GT, x, other);
    return create<SelectOp>(larger, x, create<NegOp>(other).getResult());
  }
  default:
    return create<AddOp>(x, other);
  }
}

/// Cuts and joins along the sequence or the features.
Value RandomBlocks::movement(Value x) {
  int64_t dim = pick(1, 2);
  int64_t extent = cast<RankedTensorType>(x.getType()).getDimSize(dim);
  int64_t cut = pick(1, extent - 1);
  Value low = create<SliceOp>(x, dim, 0, cut);
  Value high = create<SliceOp>(x, dim, cut, extent);
  if (pick(0, 1))
    return create<ConcatOp>(ValueRange{high, low}, dim);
  return create<PadOp>(low, dim, 0, extent - cut, 0, APFloat(0.5));
}

Value RandomBlocks::reduction(Value x) {
  switch (pick(0, 2)) {
  case 0: {
    Value total = create<ReduceSumOp>(x, ArrayRef<int64_t>{2});
    Value wide = create<ExpandOp>(x.getType(), total, ArrayRef<int64_t>{0, 1},
                                  ValueRange());
    return create<SubOp>(
        x, create<MulOp>(wide, fill(x, 1.0 / shape.width)).getResult());
  }
  case 1: {
    Value sums = create<CumsumOp>(x, 1, pick(0, 1) == 1);
    return create<MulOp>(sums, fill(x, 1.0 / shape.length));
  }
  default: {
    Value largest = create<ReduceMaxOp>(x, ArrayRef<int64_t>{1});
    Value wide = create<ExpandOp>(x.getType(), largest, ArrayRef<int64_t>{0, 2},
                                  ValueRange());
    return create<SubOp>(x, wide);
  }
  }
}

Value RandomBlocks::frozenPath(Value x) {
  Value detached = create<StopGradientOp>(linear(x, "detached", shape.width));
  return create<AddOp>(x, detached);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void RandomBlocks::start(Value tokens, Value features) {
  scope = "embed";
  Value table = parameter("weight", {shape.vocabulary, shape.width});
  values.push_back(create<EmbeddingOp>(table, tokens));
  scope = "mix";
  Value mixed = linear(features, "in", shape.width);
  values.push_back(create<AddOp>(values.front(), mixed));
}

void RandomBlocks::addBlock() {
  scope = "blocks." + std::to_string(block++);
  using Build = Value (RandomBlocks::*)(Value);
  constexpr Build kinds[] = {
      &RandomBlocks::mlp,        &RandomBlocks::norm,
      &RandomBlocks::attention,  &RandomBlocks::combination,
      &RandomBlocks::movement,   &RandomBlocks::reduction,
      &RandomBlocks::activation, &RandomBlocks::mlp,
      &RandomBlocks::attention,  &RandomBlocks::combination,
      &RandomBlocks::frozenPath};
  Value input = pickValue();
  values.push_back((this->*kinds[pick(0, std::size(kinds) - 1)])(input));
}

void RandomBlocks::finish(Value labels) {
  scope = "head";
  int64_t rows = shape.rows * shape.length;
  Value last = create<AddOp>(values.back(), pickValue());
  Value flat =
      create<ReshapeOp>(floats({rows, shape.width}), last, ValueRange());
  Value weight = pick(0, 1)
                     ? tied("embed.weight", "head.weight")
                     : parameter("weight", {shape.vocabulary, shape.width});
  Value logits = create<LinearOp>(flat, weight);
  auto labelType = RankedTensorType::get({rows}, builder.getI64Type());
  Value flatLabels = create<ReshapeOp>(labelType, labels, ValueRange());
  auto entropy = create<CrossEntropyOp>(logits, flatLabels);
  Value loss = create<MeanLossOp>(entropy.getSum(), entropy.getCount(), "loss");
  if (pick(0, 2) == 0) {
    Value squares = create<MulOp>(last, last);
    Value total = create<ReduceSumOp>(squares, ArrayRef<int64_t>{0, 1, 2});
    auto countType = RankedTensorType::get({}, builder.getI64Type());
    Value count = create<FillOp>(countType, APFloat(double(rows * shape.width)),
                                 ValueRange());
    loss = create<AddOp>(loss, create<MeanLossOp>(total, count, "size"));
  }
  create<func::ReturnOp>(ValueRange{loss, logits});
}
