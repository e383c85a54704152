//===- DecomposeConvolutions.cpp - Convolutions to commands ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The batch is cut into tiles, here and not when running, so that no bit
// depends on threads: each image of a result is one tile's, and the gradient
// of a weight is a sum over the batch, of which each tile gives a part and a
// reduction adds the parts in order.
//
// The library gets memory for each tile, which this file bounds without
// knowing the machine: for its implementations that unfold images into
// columns, and for those that want channels in blocks of 16, with images and
// kernels copied into that order. What still does not fit is not used.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace smp;

/// As many tiles as keep some threads busy.
static constexpr int64_t mostTiles = 8;
/// The parts of a weight's gradient have this many elements at most together.
static constexpr int64_t mostPartElements = 4 << 20;

/// The largest number of equal tiles, of those allowed, that a batch is cut in.
static int64_t tilesOf(int64_t batch, int64_t limit) {
  for (int64_t tiles = std::min(batch, limit); tiles > 1; --tiles)
    if (batch % tiles == 0)
      return tiles;
  return 1;
}

/// Floats that the library may use for a tile of `images`.
static int64_t workspaceOf(ConvolutionPass pass, ArrayRef<int64_t> input,
                           ArrayRef<int64_t> kernels, ArrayRef<int64_t> output,
                           int64_t groups, int64_t images) {
  auto product = [](ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                           std::multiplies<>());
  };
  auto blocks = [](int64_t channels) {
    return static_cast<int64_t>(llvm::alignTo(channels, 16));
  };
  int64_t window = product(kernels.drop_front(2));
  int64_t columns =
      kernels[1] * window * product(output.drop_front(2)) + product(kernels);
  // Kernels of one channel in and out keep one block, others two.
  bool depthwise = kernels[1] == 1 && kernels[0] == groups;
  int64_t blockedKernels = depthwise ? blocks(groups) * window
                                     : groups * blocks(kernels[0] / groups) *
                                           blocks(kernels[1]) * window;
  // Images of one or three channels are read as they are.
  bool isRead = pass != ConvolutionPass::BackwardData && groups == 1 &&
                (input[1] == 1 || input[1] == 3);
  int64_t inputBlocks = isRead ? 0 : blocks(input[1]);
  int64_t blocked =
      images * (inputBlocks * product(input.drop_front(2)) +
                blocks(kernels[0]) * product(output.drop_front(2))) +
      blockedKernels;
  // The library aligns its parts.
  constexpr int64_t slack = 1024;
  return static_cast<int64_t>(
      llvm::alignTo(std::max(columns, blocked) + slack, 64));
}

/// A convolution in `tiles` pieces; `op` says how windows lie.
template <typename OpTy>
static Value makeConvolution(PatternRewriter &rewriter, OpTy op,
                             ConvolutionPass pass, Value lhs, Value rhs,
                             RankedTensorType result, int64_t workspace,
                             int64_t tiles) {
  auto memory =
      RankedTensorType::get({workspace * tiles}, rewriter.getF32Type());
  auto convolution = ConvolutionOp::create(
      rewriter, op.getLoc(), result, memory, pass, lhs, rhs, op.getStride(),
      op.getPadding(), op.getDilation(), op.getGroups(), tiles, op.getScope());
  return convolution.getResult();
}

static LogicalResult decomposeConv2d(Conv2dOp op, PatternRewriter &rewriter) {
  RankedTensorType input = typeOf(op.getInput()), type = op.getType();
  int64_t tiles = tilesOf(input.getDimSize(0), mostTiles);
  int64_t workspace =
      workspaceOf(ConvolutionPass::Forward, input.getShape(),
                  typeOf(op.getWeight()).getShape(), type.getShape(),
                  op.getGroups(), input.getDimSize(0) / tiles);
  Value result =
      makeConvolution(rewriter, op, ConvolutionPass::Forward, op.getInput(),
                      op.getWeight(), type, workspace, tiles);
  if (op.getBias()) {
    Value bias =
        ExpandOp::create(rewriter, op.getLoc(), type, op.getBias(),
                         rewriter.getDenseI64ArrayAttr({1}), ValueRange());
    auto sum = AddOp::create(rewriter, op.getLoc(), result, bias);
    copyScope(op, sum);
    result = sum;
  }
  rewriter.replaceOp(op, result);
  return success();
}

static LogicalResult decomposeConv2dInputGrad(Conv2dInputGradOp op,
                                              PatternRewriter &rewriter) {
  RankedTensorType cotangent = typeOf(op.getCotangent()), type = op.getType();
  int64_t tiles = tilesOf(type.getDimSize(0), mostTiles);
  int64_t workspace =
      workspaceOf(ConvolutionPass::BackwardData, type.getShape(),
                  typeOf(op.getWeight()).getShape(), cotangent.getShape(),
                  op.getGroups(), type.getDimSize(0) / tiles);
  rewriter.replaceOp(op, makeConvolution(rewriter, op,
                                         ConvolutionPass::BackwardData,
                                         op.getCotangent(), op.getWeight(),
                                         type, workspace, tiles));
  return success();
}

static LogicalResult decomposeConv2dWeightGrad(Conv2dWeightGradOp op,
                                               PatternRewriter &rewriter) {
  RankedTensorType cotangent = typeOf(op.getCotangent()),
                   input = typeOf(op.getInput()), type = op.getType();
  int64_t elements = std::max<int64_t>(1, type.getNumElements());
  int64_t tiles =
      tilesOf(input.getDimSize(0),
              std::clamp<int64_t>(mostPartElements / elements, 1, mostTiles));
  int64_t workspace = workspaceOf(
      ConvolutionPass::BackwardWeights, input.getShape(), type.getShape(),
      cotangent.getShape(), op.getGroups(), input.getDimSize(0) / tiles);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), tiles);
  Value parts = makeConvolution(
      rewriter, op, ConvolutionPass::BackwardWeights, op.getCotangent(),
      op.getInput(), RankedTensorType::get(shape, type.getElementType()),
      workspace, tiles);
  Operation *whole = nullptr;
  if (tiles == 1)
    whole = ReshapeOp::create(rewriter, op.getLoc(), type, parts, ValueRange());
  else
    whole = ReduceSumOp::create(rewriter, op.getLoc(), type, parts,
                                rewriter.getDenseI64ArrayAttr({0}));
  copyScope(op, whole);
  rewriter.replaceOp(op, whole);
  return success();
}

void smp::addConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeConv2d);
  patterns.add(decomposeConv2dInputGrad);
  patterns.add(decomposeConv2dWeightGrad);
}
