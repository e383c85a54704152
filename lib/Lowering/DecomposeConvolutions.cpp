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
// The library gets memory for each tile: as much as the implementation takes
// that it likes best on this machine, for which kernels are compiled, too. How
// it orders and pads images depends on channels, windows and vector units, and
// no rule of ours would be a plan to a few percent, so it is asked. On another
// machine it takes what fits.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "smp/runtime/Device/Convolution.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

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

static runtime::ConvolutionPass passOf(ConvolutionPass pass) {
  switch (pass) {
  case ConvolutionPass::Forward:
    return runtime::ConvolutionPass::Forward;
  case ConvolutionPass::BackwardData:
    return runtime::ConvolutionPass::BackwardData;
  case ConvolutionPass::BackwardWeights:
    return runtime::ConvolutionPass::BackwardWeights;
  }
  llvm_unreachable("all passes are known");
}

template <size_t N>
static void copySizes(ArrayRef<int64_t> from, std::array<int64_t, N> &to) {
  llvm::copy(from.take_back(N), to.begin());
}

/// What a convolution computes: images of a shape to images of another.
struct Shapes {
  ArrayRef<int64_t> input, kernels, output;
};

/// A convolution in `tiles` pieces; `op` says how windows lie.
template <typename OpTy>
static Value makeConvolution(PatternRewriter &rewriter, OpTy op,
                             ConvolutionPass pass, Value lhs, Value rhs,
                             RankedTensorType result, const Shapes &shapes,
                             int64_t tiles) {
  runtime::ConvolutionCommand command;
  command.pass = passOf(pass);
  command.rows = shapes.input[0];
  command.groups = op.getGroups();
  command.tiles = tiles;
  copySizes(shapes.input, command.input);
  copySizes(shapes.output, command.output);
  copySizes(shapes.kernels, command.kernel);
  copySizes(op.getStride(), command.stride);
  copySizes(op.getPadding(), command.padding);
  copySizes(op.getDilation(), command.dilation);
  // What it has no implementation of, smp-run refuses.
  int64_t bytes = runtime::Convolution::scratchBytes(command).value_or(0);
  // Each tile's part begins at a multiple of 256 bytes.
  int64_t floats = llvm::alignTo(std::max<int64_t>(bytes, 1), 256) / 4;
  auto memory = RankedTensorType::get({floats * tiles}, rewriter.getF32Type());
  auto convolution = ConvolutionOp::create(
      rewriter, op.getLoc(), result, memory, pass, lhs, rhs, op.getStride(),
      op.getPadding(), op.getDilation(), op.getGroups(), tiles, op.getScope());
  return convolution.getResult();
}

static LogicalResult decomposeConv2d(Conv2dOp op, PatternRewriter &rewriter) {
  RankedTensorType input = typeOf(op.getInput()), type = op.getType();
  int64_t tiles = tilesOf(input.getDimSize(0), mostTiles);
  Shapes shapes = {input.getShape(), typeOf(op.getWeight()).getShape(),
                   type.getShape()};
  Value result =
      makeConvolution(rewriter, op, ConvolutionPass::Forward, op.getInput(),
                      op.getWeight(), type, shapes, tiles);
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
  Shapes shapes = {type.getShape(), typeOf(op.getWeight()).getShape(),
                   cotangent.getShape()};
  rewriter.replaceOp(op, makeConvolution(rewriter, op,
                                         ConvolutionPass::BackwardData,
                                         op.getCotangent(), op.getWeight(),
                                         type, shapes, tiles));
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
  Shapes shapes = {input.getShape(), type.getShape(), cotangent.getShape()};
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), tiles);
  Value parts = makeConvolution(
      rewriter, op, ConvolutionPass::BackwardWeights, op.getCotangent(),
      op.getInput(), RankedTensorType::get(shape, type.getElementType()),
      shapes, tiles);
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
