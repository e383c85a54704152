//===- ConvolutionOps.cpp - Inference and checks of convolutions ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/ConvolutionOps.cpp.inc"

void SmpDialect::registerConvolutionOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ConvolutionOps.cpp.inc"
      >();
}

using Where = std::optional<Location>;

namespace {
/// A pair of attributes, with the least value of its numbers.
struct Pair {
  StringRef name;
  ArrayRef<int64_t> values;
  int64_t least;
};

/// How windows lie on an image.
struct Windows {
  ArrayRef<int64_t> kernel, stride, padding, dilation;
  bool ceil = false;

  /// The number of windows along a dim; 0 where none fits.
  int64_t count(int64_t size, unsigned dim) const {
    if (ShapedType::isDynamic(size))
      return size;
    int64_t rest =
        size + 2 * padding[dim] - (kernel[dim] - 1) * dilation[dim] - 1;
    if (rest < 0)
      return 0;
    int64_t windows = (rest + (ceil ? stride[dim] - 1 : 0)) / stride[dim] + 1;
    // A last window begins inside the image or its padding before it.
    if (ceil && (windows - 1) * stride[dim] >= size + padding[dim])
      --windows;
    return windows;
  }
};
} // namespace

static LogicalResult checkPairs(Where loc, ArrayRef<Pair> pairs) {
  // What overflows no sum or product of sizes.
  constexpr int64_t limit = int64_t(1) << 24;
  for (const Pair &pair : pairs) {
    if (pair.values.size() != 2)
      return emitOptionalError(loc, "expects two numbers as ", pair.name,
                               ", got ", pair.values.size());
    for (int64_t value : pair.values)
      if (value < pair.least || value > limit)
        return emitOptionalError(loc, "expects a ", pair.name, " of at least ",
                                 pair.least, " and at most ", limit, ", got ",
                                 value);
  }
  return success();
}

/// Checks two tensors of rank 4 with one element type.
static LogicalResult checkImages(Where loc, Value first, Value second) {
  RankedTensorType a = tensorType(first), b = tensorType(second);
  if (a.getRank() != 4 || b.getRank() != 4)
    return emitOptionalError(loc, "expects operands of rank 4, got ranks ",
                             a.getRank(), " and ", b.getRank());
  if (a.getElementType() != b.getElementType())
    return emitOptionalError(loc, "expects one element type, got ",
                             a.getElementType(), " and ", b.getElementType());
  return success();
}

/// Checks that `groups` divides two numbers of channels.
static LogicalResult checkGroups(Where loc, int64_t groups, int64_t first,
                                 int64_t second) {
  if (groups >= 1 && first % groups == 0 && second % groups == 0)
    return success();
  return emitOptionalError(loc, "expects groups that divide ", first, " and ",
                           second, " channels, got ", groups);
}

/// Checks that windows over `size` give an image of `expected`.
static LogicalResult checkPlaces(Where loc, const Windows &windows,
                                 ArrayRef<int64_t> size,
                                 ArrayRef<int64_t> got) {
  int64_t counts[2] = {windows.count(size[0], 0), windows.count(size[1], 1)};
  if (counts[0] != 0 && counts[1] != 0 && compatibleShapes(counts, got))
    return success();
  return emitOptionalError(loc, "expects ", shapeString(counts),
                           " windows over an image of ", shapeString(size),
                           ", got ", shapeString(got));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

LogicalResult Conv2dOp::inferReturnTypes(MLIRContext *, Where loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Value input = adaptor.getInput(), weight = adaptor.getWeight();
  if (failed(checkImages(loc, input, weight))) // conv2d_c1
    return failure();
  if (failed(checkPairs(loc, {{"stride", adaptor.getStride(), 1},
                              {"padding", adaptor.getPadding(), 0},
                              {"dilation", adaptor.getDilation(), 1}})))
    return failure(); // conv2d_c2
  ArrayRef<int64_t> x = tensorType(input).getShape(),
                    w = tensorType(weight).getShape();
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || w[0] % groups != 0 || x[1] != w[1] * groups) // conv2d_c3
    return emitOptionalError(loc, "expects groups that divide the ", w[0],
                             " kernels and an input of so many times ", w[1],
                             " channels, got ", groups, " groups and ", x[1],
                             " channels");
  Windows windows{w.drop_front(2), adaptor.getStride(), adaptor.getPadding(),
                  adaptor.getDilation()};
  int64_t height = windows.count(x[2], 0), width = windows.count(x[3], 1);
  if (height == 0 || width == 0) // conv2d_c4
    return emitOptionalError(loc, "expects a kernel that fits into ",
                             shapeString(x.drop_front(2)), ", got ",
                             shapeString(w.drop_front(2)));
  types.push_back(withShape(tensorType(input), {x[0], w[0], height, width}));
  return success();
}

LogicalResult Conv2dOp::verify() {
  if (!getBias())
    return success();
  return verifyShape(*this, "bias", getBias(), // conv2d_c5
                     getResult().getType().getShape()[1]);
}

ShardingRule Conv2dOp::getShardingRule() {
  // A bias is added once, and not to each summand.
  if (getGroups() > 1)
    return ShardingRule::parse(*this, getBias()
                                          ? "n C H W, O I K L, O -> n O P Q"
                                          : "n C H W, O I K L -> n O P Q");
  return ShardingRule::parse(*this, getBias() ? "n C H W, o C K L, o -> n o P Q"
                                              : "n c H W, o c K L -> n o P Q");
}

LogicalResult
Conv2dInputGradOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  Value cotangent = adaptor.getCotangent(), weight = adaptor.getWeight();
  if (failed(checkImages(loc, cotangent, weight)))
    return failure(); // conv2d_input_grad_c1
  ArrayRef<int64_t> size = adaptor.getSize();
  if (failed(checkPairs(loc, {{"size", size, 1},
                              {"stride", adaptor.getStride(), 1},
                              {"padding", adaptor.getPadding(), 0},
                              {"dilation", adaptor.getDilation(), 1}})))
    return failure(); // conv2d_input_grad_c2
  ArrayRef<int64_t> c = tensorType(cotangent).getShape(),
                    w = tensorType(weight).getShape();
  int64_t groups = adaptor.getGroups();
  if (failed(checkGroups(loc, groups, c[1], w[0])))
    return failure();
  if (c[1] != w[0]) // conv2d_input_grad_c3
    return emitOptionalError(loc, "expects a cotangent of ", w[0],
                             " channels, got ", c[1]);
  Windows windows{w.drop_front(2), adaptor.getStride(), adaptor.getPadding(),
                  adaptor.getDilation()};
  if (failed(checkPlaces(loc, windows, size, c.drop_front(2))))
    return failure(); // conv2d_input_grad_c4
  types.push_back(withShape(tensorType(cotangent),
                            {c[0], w[1] * groups, size[0], size[1]}));
  return success();
}

LogicalResult
Conv2dWeightGradOp::inferReturnTypes(MLIRContext *, Where loc, Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  Value cotangent = adaptor.getCotangent(), input = adaptor.getInput();
  if (failed(checkImages(loc, cotangent, input)))
    return failure();
  ArrayRef<int64_t> c = tensorType(cotangent).getShape(),
                    x = tensorType(input).getShape();
  if (!compatibleSizes(c[0], x[0])) // conv2d_weight_grad_c1
    return emitOptionalError(loc, "expects as many images as cotangents, ",
                             c[0], ", got ", x[0]);
  ArrayRef<int64_t> kernel = adaptor.getKernel();
  if (failed(checkPairs(loc, {{"kernel", kernel, 1},
                              {"stride", adaptor.getStride(), 1},
                              {"padding", adaptor.getPadding(), 0},
                              {"dilation", adaptor.getDilation(), 1}})))
    return failure(); // conv2d_weight_grad_c2
  int64_t groups = adaptor.getGroups();
  if (failed(checkGroups(loc, groups, c[1], x[1])))
    return failure(); // conv2d_weight_grad_c3
  Windows windows{kernel, adaptor.getStride(), adaptor.getPadding(),
                  adaptor.getDilation()};
  if (failed(checkPlaces(loc, windows, x.drop_front(2), c.drop_front(2))))
    return failure(); // conv2d_weight_grad_c4
  types.push_back(withShape(tensorType(cotangent),
                            {c[1], x[1] / groups, kernel[0], kernel[1]}));
  return success();
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static LogicalResult checkPool(Where loc, const Windows &windows) {
  if (failed(checkPairs(loc, {{"kernel", windows.kernel, 1},
                              {"stride", windows.stride, 1},
                              {"padding", windows.padding, 0},
                              {"dilation", windows.dilation, 1}})))
    return failure();
  for (auto [padding, kernel] : llvm::zip(windows.padding, windows.kernel))
    if (padding > kernel / 2)
      return emitOptionalError(loc,
                               "expects a padding of at most half the "
                               "kernel, ",
                               kernel / 2, ", got ", padding);
  return success();
}

LogicalResult MaxPool2dOp::inferReturnTypes(MLIRContext *, Where loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  if (type.getRank() != 4) // max_pool2d_c1
    return emitOptionalError(loc, "expects an operand of rank 4, got rank ",
                             type.getRank());
  Windows windows{adaptor.getKernel(), adaptor.getStride(),
                  adaptor.getPadding(), adaptor.getDilation(),
                  adaptor.getCeil()};
  if (failed(checkPool(loc, windows))) // max_pool2d_c2
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  for (unsigned dim : {0, 1}) {
    shape[2 + dim] = windows.count(shape[2 + dim], dim);
    if (shape[2 + dim] == 0) // max_pool2d_c3
      return emitOptionalError(loc, "expects a window that fits into ",
                               shapeString(type.getShape().drop_front(2)),
                               ", got ", shapeString(windows.kernel));
  }
  types.push_back(withShape(type, shape));
  types.push_back(
      RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32)));
  return success();
}

ShardingRule MaxPool2dOp::getShardingRule() {
  return ShardingRule::parse(*this, "n c H W -> n c P Q, n c P Q");
}

LogicalResult MaxPool2dGradOp::inferReturnTypes(MLIRContext *, Where loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorType(adaptor.getCotangent());
  ArrayRef<int64_t> places = tensorType(adaptor.getPlaces()).getShape();
  if (type.getRank() != 4 || !compatibleShapes(type.getShape(), places))
    return emitOptionalError( // max_pool2d_grad_c1
        loc, "expects cotangent and places of one shape of rank 4, got ",
        shapeString(type.getShape()), " and ", shapeString(places));
  ArrayRef<int64_t> size = adaptor.getSize();
  Windows windows{adaptor.getKernel(), adaptor.getStride(),
                  adaptor.getPadding(), adaptor.getDilation()};
  if (failed(checkPairs(loc, {{"size", size, 1}})) ||
      failed(checkPool(loc, windows)))
    return failure(); // max_pool2d_grad_c2
  types.push_back(withShape(
      type, {type.getDimSize(0), type.getDimSize(1), size[0], size[1]}));
  return success();
}

//===----------------------------------------------------------------------===//
// ConvolutionOp
//===----------------------------------------------------------------------===//

LogicalResult ConvolutionOp::verify() {
  RankedTensorType lhs = tensorType(getLhs()), rhs = tensorType(getRhs()),
                   result = tensorType(getResult());
  bool weights = getPass() == ConvolutionPass::BackwardWeights;
  bool forward = getPass() == ConvolutionPass::Forward;
  // The parts of a weight's gradient have one dim more, in front.
  ArrayRef<int64_t> kernels = (weights ? result : rhs).getShape();
  if (weights && kernels.size() == 5 && kernels[0] == int64_t(getTiles()))
    kernels = kernels.drop_front();
  ArrayRef<int64_t> input = (weights ? rhs : forward ? lhs : result).getShape();
  ArrayRef<int64_t> output = (forward ? result : lhs).getShape();
  bool allStatic = lhs.hasStaticShape() && rhs.hasStaticShape() &&
                   result.hasStaticShape() &&
                   tensorType(getWorkspace()).hasStaticShape();
  if (!allStatic || kernels.size() != 4 || input.size() != 4 ||
      output.size() != 4)
    return emitOpError(
               "expects static shapes of rank 4, got ") // convolution_c1
           << shapeString(input) << ", " << shapeString(kernels) << " and "
           << shapeString(output);
  if (failed(checkPairs(getLoc(), {{"stride", getStride(), 1},
                                   {"padding", getPadding(), 0},
                                   {"dilation", getDilation(), 1}})))
    return failure();
  Windows windows{kernels.drop_front(2), getStride(), getPadding(),
                  getDilation()};
  int64_t groups = getGroups(), tiles = getTiles();
  int64_t expected[4] = {input[0], kernels[0], windows.count(input[2], 0),
                         windows.count(input[3], 1)};
  if (groups < 1 || input[1] != kernels[1] * groups ||
      kernels[0] % groups != 0 || ArrayRef(expected) != output)
    return emitOpError("expects an output of shape ")
           << shapeString(expected) << " and " << groups << " groups that "
           << "divide the channels, got " << shapeString(output) << " of "
           << shapeString(input) << " and " << shapeString(kernels);
  if (tiles < 1 || input[0] % tiles != 0 ||
      tensorType(getWorkspace()).getNumElements() % tiles != 0)
    return emitOpError(
               "expects tiles that divide a batch of ") // convolution_c2
           << input[0] << " and a workspace of "
           << tensorType(getWorkspace()).getNumElements() << ", got " << tiles;
  return success();
}
