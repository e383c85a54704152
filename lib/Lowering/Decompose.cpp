//===- Decompose.cpp - Composites to products and simpler ops --*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "smp/Lowering/Lowering.h"
#include "smp/Lowering/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "smp/Lowering/Passes.h.inc"
} // namespace smp

namespace {

/// What a product is, row-major and dense.
struct ProductShape {
  int64_t m = 1, n = 1, k = 1;
  bool transposeLhs = false, transposeRhs = false;
  int64_t batch = 1, divBatch = 1, sumBatch = 1;
};

} // namespace

static int64_t lastDim(Value value) { return typeOf(value).getShape().back(); }
static int64_t rowsOf(Value value) {
  return typeOf(value).getNumElements() / lastDim(value);
}

static Value makeProduct(OpBuilder &builder, Operation *origin, Type type,
                         Value lhs, Value rhs, const ProductShape &s) {
  return ProductOp::create(
      builder, origin->getLoc(), type, lhs, rhs, /*accumulator=*/Value(),
      builder.getBoolAttr(s.transposeLhs), builder.getBoolAttr(s.transposeRhs),
      builder.getI64IntegerAttr(s.batch), builder.getI64IntegerAttr(s.divBatch),
      builder.getI64IntegerAttr(s.sumBatch), builder.getI64IntegerAttr(s.m),
      builder.getI64IntegerAttr(s.n), builder.getI64IntegerAttr(s.k),
      builder.getStringAttr(cast<ModelOpInterface>(origin).getScope()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static LogicalResult decomposeLinear(LinearOp op, PatternRewriter &rewriter) {
  ProductShape shape;
  shape.m = rowsOf(op.getInput());
  shape.n = lastDim(op.getResult());
  shape.k = lastDim(op.getInput());
  shape.transposeRhs = !op.getTransposed();
  rewriter.replaceOp(op, makeProduct(rewriter, op, op.getType(), op.getInput(),
                                     op.getWeight(), shape));
  return success();
}

static LogicalResult decomposeWeightGrad(LinearWeightGradOp op,
                                         PatternRewriter &rewriter) {
  // cotangentᵀ input, or inputᵀ cotangent for a transposed weight.
  Value lhs = op.getCotangent(), rhs = op.getInput();
  if (op.getTransposed())
    std::swap(lhs, rhs);
  ProductShape shape;
  shape.m = lastDim(lhs);
  shape.n = lastDim(rhs);
  shape.k = rowsOf(lhs);
  shape.transposeLhs = true;
  rewriter.replaceOp(op,
                     makeProduct(rewriter, op, op.getType(), lhs, rhs, shape));
  return success();
}

static LogicalResult decomposeBatchMatmul(BatchMatmulOp op,
                                          PatternRewriter &rewriter) {
  ArrayRef<int64_t> result = typeOf(op.getResult()).getShape();
  ArrayRef<int64_t> lhs = typeOf(op.getLhs()).getShape();
  ProductShape shape;
  shape.m = result[result.size() - 2];
  shape.n = result.back();
  shape.k = lhs[lhs.size() - (op.getTransposeLhs() ? 2 : 1)];
  shape.batch = typeOf(op.getResult()).getNumElements() / (shape.m * shape.n);
  shape.transposeLhs = op.getTransposeLhs();
  shape.transposeRhs = op.getTransposeRhs();
  rewriter.replaceOp(op, makeProduct(rewriter, op, op.getType(), op.getLhs(),
                                     op.getRhs(), shape));
  return success();
}

/// acc + product, acc the gradient argument of the program: the product starts
/// from acc. Only there, because this sum is the same in every partition.
static LogicalResult accumulateInProduct(AddOp op, PatternRewriter &rewriter) {
  for (auto [sum, term] : {std::pair(op.getLhs(), op.getRhs()),
                           std::pair(op.getRhs(), op.getLhs())}) {
    auto argument = dyn_cast<BlockArgument>(sum);
    auto product = term.getDefiningOp<ProductOp>();
    if (!argument || !product || product.getAccumulator() ||
        !product->hasOneUse() || !argument.hasOneUse())
      continue;
    auto program = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!program)
      continue;
    auto binding = program.getArgAttrOfType<BindingAttr>(
        argument.getArgNumber(), kBindingAttr);
    if (!binding || binding.getKind() != BindingKind::Gradient)
      continue;
    rewriter.modifyOpInPlace(
        product, [&] { product.getAccumulatorMutable().assign(argument); });
    rewriter.replaceOp(op, product.getResult());
    return success();
  }
  return rewriter.notifyMatchFailure(
      op, "expects a gradient argument and a product used only here");
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Query [B, H, S, D], key [B, G, T, D] and value [B, G, T, E].
struct HeadShapes {
  HeadShapes(Value query, Value key, Value value) {
    ArrayRef<int64_t> q = typeOf(query).getShape();
    ArrayRef<int64_t> k = typeOf(key).getShape();
    batch = q[0] * q[1];
    group = q[1] / k[1];
    queries = q[2];
    keys = k[2];
    width = q[3];
    valueWidth = lastDim(value);
    scores = RankedTensorType::get({q[0], q[1], queries, keys},
                                   typeOf(query).getElementType());
  }
  /// left · rightᵀ, one row for each query.
  ProductShape scoresOf(int64_t inner) const {
    return {queries, keys, inner, false, true, batch, group, 1};
  }
  /// weights · right.
  ProductShape weighted(int64_t columns) const {
    return {queries, columns, keys, false, false, batch, group, 1};
  }
  /// weightsᵀ · right, summed over the queries that share a key head.
  ProductShape gathered(int64_t columns) const {
    return {keys, columns, queries, true, false, batch, 1, group};
  }

  int64_t batch, group, queries, keys, width, valueWidth;
  RankedTensorType scores;
};
} // namespace

static LogicalResult decomposeAttention(AttentionOp op,
                                        PatternRewriter &rewriter) {
  HeadShapes heads(op.getQuery(), op.getKey(), op.getValue());
  Value scores = makeProduct(rewriter, op, heads.scores, op.getQuery(),
                             op.getKey(), heads.scoresOf(heads.width));
  auto softmax = AttentionSoftmaxOp::create(
      rewriter, op.getLoc(), heads.scores, op.getLse().getType(), scores,
      op.getBias(), op.getMaskAttr(), op.getScaleAttr(), op.getDropoutAttr(),
      op.getSiteAttr(), op.getScopeAttr());
  Value result =
      makeProduct(rewriter, op, op.getResult().getType(), softmax.getResult(),
                  op.getValue(), heads.weighted(heads.valueWidth));
  rewriter.replaceOp(op, {result, softmax.getLse()});
  return success();
}

static Value scaled(OpBuilder &builder, AttentionGradOp op, Value value,
                    double factor) {
  if (factor == 1.0)
    return value;
  Value number = FillOp::create(builder, op.getLoc(), value.getType(),
                                builder.getF64FloatAttr(factor), ValueRange());
  auto product = MulOp::create(builder, op.getLoc(), value, number);
  copyScope(op, product);
  return product;
}

/// The sum over the dims along which a tensor of `type` broadcasts to `value`.
static Value sumTo(OpBuilder &builder, AttentionGradOp op, Value value,
                   RankedTensorType type) {
  SmallVector<int64_t> dims, left;
  for (auto [dim, size] : llvm::enumerate(typeOf(value).getShape()))
    if (size != 1 && type.getDimSize(dim) == 1)
      dims.push_back(dim);
    else
      left.push_back(size);
  if (!dims.empty()) {
    auto sum =
        ReduceSumOp::create(builder, op.getLoc(), typeOf(value).clone(left),
                            value, builder.getDenseI64ArrayAttr(dims));
    copyScope(op, sum);
    value = sum;
  }
  if (typeOf(value).getShape() != type.getShape())
    value = ReshapeOp::create(builder, op.getLoc(),
                              typeOf(value).clone(type.getShape()), value,
                              ValueRange());
  if (value.getType() != type)
    value = CastOp::create(builder, op.getLoc(), type, value);
  return value;
}

static LogicalResult decomposeAttentionGrad(AttentionGradOp op,
                                            PatternRewriter &rewriter) {
  HeadShapes heads(op.getQuery(), op.getKey(), op.getValue());
  auto product = [&](Type type, Value lhs, Value rhs,
                     const ProductShape &shape) {
    return makeProduct(rewriter, op, type, lhs, rhs, shape);
  };
  Value scores = product(heads.scores, op.getQuery(), op.getKey(),
                         heads.scoresOf(heads.width));
  Value weightGrad = product(heads.scores, op.getCotangent(), op.getValue(),
                             heads.scoresOf(heads.valueWidth));
  // The bias is added after scaling, and its gradient is that of the scores
  // there; query and key are then scaled at the end.
  UnitAttr unscaled = op.getBiasGrad() ? op.getBiasGradientAttr() : UnitAttr();
  auto rows = AttentionSoftmaxGradOp::create(
      rewriter, op.getLoc(), heads.scores, heads.scores, scores, weightGrad,
      op.getOutput(), op.getCotangent(), op.getLse(), op.getBias(),
      op.getMaskAttr(), op.getScaleAttr(), op.getDropoutAttr(),
      op.getSiteAttr(), unscaled, op.getScopeAttr());
  Value valueGrad =
      product(op.getValueGrad().getType(), rows.getWeights(), op.getCotangent(),
              heads.gathered(heads.valueWidth));
  Value queryGrad = product(op.getQueryGrad().getType(), rows.getScoresGrad(),
                            op.getKey(), heads.weighted(heads.width));
  Value keyGrad = product(op.getKeyGrad().getType(), rows.getScoresGrad(),
                          op.getQuery(), heads.gathered(heads.width));
  SmallVector<Value> results = {queryGrad, keyGrad, valueGrad};
  if (Value biasGrad = op.getBiasGrad()) {
    for (Value &result : MutableArrayRef(results).take_front(2))
      result = scaled(rewriter, op, result, op.getScale().convertToDouble());
    results.push_back(
        sumTo(rewriter, op, rows.getScoresGrad(), typeOf(biasGrad)));
  }
  rewriter.replaceOp(op, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Norms and losses
//===----------------------------------------------------------------------===//

static Value expandRows(OpBuilder &builder, Location loc, Value perRow,
                        Type type) {
  SmallVector<int64_t> dims(typeOf(perRow).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  return ExpandOp::create(builder, loc, type, perRow, dims, ValueRange{});
}

/// The sum over all rows, where it is used.
static void replaceByRowSum(PatternRewriter &rewriter, Operation *op,
                            Value result, llvm::function_ref<Value()> terms) {
  if (result.use_empty())
    return;
  Value operand = terms();
  SmallVector<int64_t> dims(typeOf(operand).getRank() - 1);
  std::iota(dims.begin(), dims.end(), 0);
  auto sum = ReduceSumOp::create(rewriter, op->getLoc(), result.getType(),
                                 operand, rewriter.getDenseI64ArrayAttr(dims));
  copyScope(op, sum);
  rewriter.replaceAllUsesWith(result, sum.getResult());
}

static LogicalResult decomposeLayerNormGrad(LayerNormGradOp op,
                                            PatternRewriter &rewriter) {
  if (op.getWeightGrad().use_empty() && op.getBiasGrad().use_empty())
    return rewriter.notifyMatchFailure(op, "expects a use of the sums");
  Location loc = op.getLoc();
  Type type = op.getOperand().getType();
  replaceByRowSum(rewriter, op, op.getBiasGrad(),
                  [&] { return op.getCotangent(); });
  replaceByRowSum(rewriter, op, op.getWeightGrad(), [&]() -> Value {
    Value mean = expandRows(rewriter, loc, op.getMean(), type);
    Value rstd = expandRows(rewriter, loc, op.getRstd(), type);
    Value centered = SubOp::create(rewriter, loc, op.getOperand(), mean);
    Value normal = MulOp::create(rewriter, loc, centered, rstd);
    return MulOp::create(rewriter, loc, op.getCotangent(), normal);
  });
  return success();
}

static LogicalResult decomposeRmsNormGrad(RmsNormGradOp op,
                                          PatternRewriter &rewriter) {
  if (op.getWeightGrad().use_empty())
    return rewriter.notifyMatchFailure(op, "expects a use of the sum");
  Location loc = op.getLoc();
  replaceByRowSum(rewriter, op, op.getWeightGrad(), [&]() -> Value {
    Value rstd =
        expandRows(rewriter, loc, op.getRstd(), op.getOperand().getType());
    Value normal = MulOp::create(rewriter, loc, op.getOperand(), rstd);
    return MulOp::create(rewriter, loc, op.getCotangent(), normal);
  });
  return success();
}

static LogicalResult decomposeCrossEntropy(CrossEntropyOp op,
                                           PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Type rowType = op.getLse().getType();
  auto rows = CrossEntropyRowsOp::create(
      rewriter, loc, rowType, rowType, op.getLogits(), op.getLabels(),
      op.getIgnoreIndexAttr(), op.getScopeAttr());
  SmallVector<int64_t> dims(typeOf(rows.getLosses()).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  auto sum = ReduceSumOp::create(rewriter, loc, op.getSum().getType(),
                                 rows.getLosses(),
                                 rewriter.getDenseI64ArrayAttr(dims));
  auto count = LabelCountOp::create(rewriter, loc, op.getCount().getType(),
                                    op.getLabels(), op.getIgnoreIndexAttr());
  copyScope(op, sum);
  copyScope(op, count);
  rewriter.replaceOp(op, {sum.getResult(), count.getResult(), rows.getLse()});
  return success();
}

void smp::decompose(func::FuncOp program) {
  RewritePatternSet patterns(program.getContext());
  patterns.add(decomposeLinear);
  patterns.add(decomposeWeightGrad);
  patterns.add(decomposeBatchMatmul);
  patterns.add(decomposeAttention);
  patterns.add(decomposeAttentionGrad);
  patterns.add(decomposeLayerNormGrad);
  patterns.add(decomposeRmsNormGrad);
  patterns.add(decomposeCrossEntropy);
  addConvolutionPatterns(patterns);
  addBatchNormPatterns(patterns);
  patterns.add(accumulateInProduct);
  walkAndApplyPatterns(program, std::move(patterns));
}

namespace {
struct DecomposePass : smp::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override { decompose(getOperation()); }
};
} // namespace
