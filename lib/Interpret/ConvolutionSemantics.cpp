//===- ConvolutionSemantics.cpp - Convolutions and pooling ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"
#include "Semantics.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The shape of an op's result for a batch that is known by now.
static Shape resultShape(Type type, int64_t batch) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  Shape result(shape.begin(), shape.end());
  if (ShapedType::isDynamic(result[0]))
    result[0] = batch;
  return result;
}

template <typename OpTy>
static Convolution convolution(OpTy op, Shape input, Shape kernels,
                               Shape output) {
  return {std::move(input),
          std::move(kernels),
          std::move(output),
          op.getStride(),
          op.getPadding(),
          op.getDilation(),
          static_cast<int64_t>(op.getGroups())};
}

static Tensor evaluate(Conv2dOp op, Operands in, Context &) {
  const Tensor &input = in[0], &weight = in[1];
  Tensor result(input.type(), resultShape(op.getType(), input.dim(0)));
  auto x = input.floats(), w = weight.floats();
  auto y = result.mutableFloats();
  if (op.getBias())
    forEachPlace(result.shape(), [&](auto at, int64_t place) {
      y[place] = in[2].floats()[at[1]];
    });
  convolution(op, input.shape(), weight.shape(), result.shape())
      .forEachTerm(
          [&](int64_t i, int64_t k, int64_t o) { y[o] += x[i] * w[k]; });
  return result;
}

static Tensor evaluate(Conv2dInputGradOp op, Operands in, Context &) {
  const Tensor &cotangent = in[0], &weight = in[1];
  Tensor result(cotangent.type(), resultShape(op.getType(), cotangent.dim(0)));
  auto c = cotangent.floats(), w = weight.floats();
  auto dx = result.mutableFloats();
  convolution(op, result.shape(), weight.shape(), cotangent.shape())
      .forEachTerm(
          [&](int64_t i, int64_t k, int64_t o) { dx[i] += c[o] * w[k]; });
  return result;
}

static Tensor evaluate(Conv2dWeightGradOp op, Operands in, Context &) {
  const Tensor &cotangent = in[0], &input = in[1];
  Tensor result(cotangent.type(), shapeOf(op.getType()));
  auto c = cotangent.floats(), x = input.floats();
  auto dw = result.mutableFloats();
  convolution(op, input.shape(), result.shape(), cotangent.shape())
      .forEachTerm(
          [&](int64_t i, int64_t k, int64_t o) { dw[k] += c[o] * x[i]; });
  return result;
}

/// The lowered op: the parts of a weight's gradient are sums over their tile's
/// images. Nothing is said about the workspace.
static Results evaluate(ConvolutionOp op, Operands in, Context &) {
  auto lhs = in[0].floats(), rhs = in[1].floats();
  Tensor result(in[0].type(), shapeOf(op.getResult().getType()));
  auto sums = result.mutableFloats();
  if (op.getPass() == ConvolutionPass::Forward) {
    convolution(op, in[0].shape(), in[1].shape(), result.shape())
        .forEachTerm([&](int64_t i, int64_t k, int64_t o) {
          sums[o] += lhs[i] * rhs[k];
        });
  } else if (op.getPass() == ConvolutionPass::BackwardData) {
    convolution(op, result.shape(), in[1].shape(), in[0].shape())
        .forEachTerm([&](int64_t i, int64_t k, int64_t o) {
          sums[i] += lhs[o] * rhs[k];
        });
  } else {
    Shape kernels(result.shape().end() - 4, result.shape().end());
    int64_t size = elementsOf(kernels), tiles = op.getTiles();
    int64_t perTile = in[0].size() / tiles;
    convolution(op, in[1].shape(), kernels, in[0].shape())
        .forEachTerm([&](int64_t i, int64_t k, int64_t o) {
          sums[o / perTile * size + k] += lhs[o] * rhs[i];
        });
  }
  return {result, Tensor(in[0].type(), shapeOf(op.getWorkspace().getType()))};
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Calls `visit(element, place)` for the elements of an image that lie in the
/// window of a result's place `at`; `place` counts in the window.
template <typename OpTy, typename Visitor>
static void forEachInWindow(OpTy op, std::span<const int64_t> at,
                            const Shape &image, Visitor visit) {
  ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(),
                    padding = op.getPadding(), dilation = op.getDilation();
  int64_t plane = (at[0] * image[1] + at[1]) * image[2];
  for (int64_t i = 0; i < kernel[0]; ++i)
    for (int64_t j = 0; j < kernel[1]; ++j) {
      int64_t row = at[2] * stride[0] - padding[0] + i * dilation[0];
      int64_t column = at[3] * stride[1] - padding[1] + j * dilation[1];
      if (row >= 0 && row < image[2] && column >= 0 && column < image[3])
        visit((plane + row) * image[3] + column, i * kernel[1] + j);
    }
}

static Results evaluate(MaxPool2dOp op, Operands in, Context &) {
  const Tensor &operand = in[0];
  Shape shape = resultShape(op.getResult().getType(), operand.dim(0));
  Tensor result(operand.type(), shape), places(DataType::I32, shape);
  auto x = operand.floats();
  auto y = result.mutableFloats();
  auto where = places.mutableInts();
  forEachPlace(shape, [&](std::span<const int64_t> at, int64_t out) {
    y[out] = -std::numeric_limits<double>::infinity();
    where[out] = -1;
    forEachInWindow(op, at, operand.shape(), [&](int64_t from, int64_t place) {
      bool larger = x[from] > y[out] || std::isnan(x[from]);
      if (!larger && where[out] >= 0)
        return;
      y[out] = x[from];
      where[out] = place;
    });
  });
  return {result, places};
}

static Tensor evaluate(MaxPool2dGradOp op, Operands in, Context &) {
  const Tensor &cotangent = in[0], &places = in[1];
  Tensor result(cotangent.type(), resultShape(op.getType(), cotangent.dim(0)));
  auto dx = result.mutableFloats();
  forEachPlace(
      cotangent.shape(), [&](std::span<const int64_t> at, int64_t out) {
        forEachInWindow(op, at, result.shape(), [&](int64_t to, int64_t place) {
          if (place == places.ints()[out])
            dx[to] += cotangent.floats()[out];
        });
      });
  return result;
}

void attachConvolutionSemantics(MLIRContext *context) {
  attach<Conv2dOp, Conv2dInputGradOp, Conv2dWeightGradOp, ConvolutionOp,
         MaxPool2dOp, MaxPool2dGradOp>(context);
}

} // namespace smp::interpret
