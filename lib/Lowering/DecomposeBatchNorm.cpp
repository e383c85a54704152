//===- DecomposeBatchNorm.cpp - Batch norms to simpler ops ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two reductions and an elementwise op each way, which is what a kernel of its
// own would do: a channel is spread over all images, so that nothing of it
// stays in registers between them. What feeds a reduction is built anew for
// each, so that it becomes part of its kernel and never lies in memory.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include <numeric>

using namespace mlir;
using namespace smp;

namespace {

/// Builds ops on images [N, C, ...] and vectors [C] in place of an op.
class ChannelBuilder {
public:
  ChannelBuilder(PatternRewriter &rewriter, Operation *origin, Value images)
      : rewriter(rewriter), origin(origin),
        images(cast<RankedTensorType>(images.getType())) {
    for (int64_t dim = 0; dim < this->images.getRank(); ++dim)
      if (dim != 1)
        others.push_back(dim);
    int64_t channels = this->images.getDimSize(1);
    count = channels == 0 ? 0 : this->images.getNumElements() / channels;
  }

  template <typename OpTy, typename... Args> Value create(Args &&...args) {
    OpTy op =
        OpTy::create(rewriter, origin->getLoc(), std::forward<Args>(args)...);
    copyScope(origin, op);
    return op->getResult(0);
  }
  Value add(Value a, Value b) { return create<AddOp>(a, b); }
  Value sub(Value a, Value b) { return create<SubOp>(a, b); }
  Value mul(Value a, Value b) { return create<MulOp>(a, b); }
  Value div(Value a, Value b) { return create<DivOp>(a, b); }
  Value fill(Value like, double value) {
    return create<FillOp>(like.getType(), rewriter.getF64FloatAttr(value),
                          ValueRange());
  }
  Value scale(Value operand, double factor) {
    return mul(operand, fill(operand, factor));
  }
  /// A vector at all places of its channels.
  Value spread(Value vector) {
    return create<ExpandOp>(images, vector, rewriter.getDenseI64ArrayAttr({1}),
                            ValueRange());
  }
  /// The sum of images over all but the channels.
  Value sum(Value operand) {
    auto type =
        RankedTensorType::get({images.getDimSize(1)}, images.getElementType());
    return create<ReduceSumOp>(type, operand,
                               rewriter.getDenseI64ArrayAttr(others));
  }
  /// 1 / sqrt(variance + epsilon).
  Value reciprocalRoot(Value variance, const APFloat &epsilon) {
    Value shifted = add(variance, fill(variance, epsilon.convertToDouble()));
    return div(fill(variance, 1.0), create<SqrtOp>(shifted));
  }
  /// Times the weight plus the bias where there are any.
  Value affine(Value normal, Value weight, Value bias) {
    if (weight)
      normal = mul(normal, spread(weight));
    return bias ? add(normal, spread(bias)) : normal;
  }

  /// Elements of a channel.
  double count = 0;

private:
  PatternRewriter &rewriter;
  Operation *origin;
  RankedTensorType images;
  SmallVector<int64_t> others;
};

} // namespace

static LogicalResult decomposeBatchNorm(BatchNormOp op,
                                        PatternRewriter &rewriter) {
  Value x = op.getOperand();
  ChannelBuilder b(rewriter, op, x);
  Value sum = b.sum(x);
  Value mean = b.div(sum, b.fill(sum, b.count));
  auto centered = [&] { return b.sub(x, b.spread(mean)); };
  Value deviation = centered();
  Value squares = b.sum(b.mul(deviation, deviation));
  Value variance = b.div(squares, b.fill(squares, b.count));
  Value rstd = b.reciprocalRoot(variance, op.getEpsilon());
  Value result =
      b.affine(b.mul(centered(), b.spread(rstd)), op.getWeight(), op.getBias());
  double momentum = op.getMomentum().convertToDouble();
  auto fold = [&](Value running, Value statistic) {
    return b.add(b.scale(running, 1 - momentum), b.scale(statistic, momentum));
  };
  Value unbiased = b.div(squares, b.fill(squares, b.count - 1));
  rewriter.replaceOp(op, {result, mean, rstd, fold(op.getRunningMean(), mean),
                          fold(op.getRunningVariance(), unbiased)});
  return success();
}

// With x^ = (x - mean) rstd: dx = weight rstd (c - mean(c) - x^ mean(c x^)).
static LogicalResult decomposeBatchNormGrad(BatchNormGradOp op,
                                            PatternRewriter &rewriter) {
  Value x = op.getOperand(), cotangent = op.getCotangent();
  ChannelBuilder b(rewriter, op, x);
  auto normal = [&] {
    return b.mul(b.sub(x, b.spread(op.getMean())), b.spread(op.getRstd()));
  };
  Value biasGrad = b.sum(cotangent);
  Value weightGrad = b.sum(b.mul(cotangent, normal()));
  auto meanOf = [&](Value sum) { return b.div(sum, b.fill(sum, b.count)); };
  Value slope = op.getWeight() ? b.mul(op.getRstd(), op.getWeight())
                               : Value(op.getRstd());
  Value centered = b.sub(cotangent, b.spread(meanOf(biasGrad)));
  Value inner = b.sub(centered, b.mul(normal(), b.spread(meanOf(weightGrad))));
  rewriter.replaceOp(op, {b.mul(inner, b.spread(slope)), weightGrad, biasGrad});
  return success();
}

static LogicalResult decomposeInference(BatchNormInferenceOp op,
                                        PatternRewriter &rewriter) {
  ChannelBuilder b(rewriter, op, op.getOperand());
  Value rstd = b.reciprocalRoot(op.getRunningVariance(), op.getEpsilon());
  Value centered = b.sub(op.getOperand(), b.spread(op.getRunningMean()));
  rewriter.replaceOp(op, b.affine(b.mul(centered, b.spread(rstd)),
                                  op.getWeight(), op.getBias()));
  return success();
}

void smp::addBatchNormPatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeBatchNorm);
  patterns.add(decomposeBatchNormGrad);
  patterns.add(decomposeInference);
}
