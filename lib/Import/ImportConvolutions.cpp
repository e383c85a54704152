//===- ImportConvolutions.cpp - Convolutions, pooling, batch norm ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include <algorithm>

using namespace mlir;
using namespace smp;
using llvm::APFloat;

/// Whether a convolution is along one dim.
static bool isSequence(NodeImporter &n) {
  return n.isGiven("input") && n.tensor("input").rank() == 3;
}

/// A sequence is an image of height 1.
static Tensor asImages(NodeImporter &n, const Tensor &tensor) {
  Shape shape = tensor.shape;
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return n.reshape(tensor, shape);
}

/// Two numbers, along height and width; one stands for both, but for a sequence
/// for the width alone.
static SmallVector<int64_t> pairOf(NodeImporter &n, StringRef name,
                                   ArrayRef<int64_t> fallback) {
  std::vector<int64_t> given = n.integers(name);
  if (given.empty())
    return SmallVector<int64_t>(fallback);
  if (given.size() == 1)
    given.insert(given.begin(), isSequence(n) ? fallback[0] : given.front());
  if (given.size() != 2) {
    (void)n.refuse("with " + Twine(given.size()) + " numbers as '" + name +
                   "'");
    return SmallVector<int64_t>(fallback);
  }
  return SmallVector<int64_t>(given.begin(), given.end());
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The convolution of an input whose padding is known; a node that says it in
/// words pads the input before where the sides differ.
static LogicalResult giveConv2d(NodeImporter &n, const Tensor &input,
                                ArrayRef<int64_t> padding) {
  SmallVector<int64_t> stride = pairOf(n, "stride", {1, 1}),
                       dilation = pairOf(n, "dilation", {1, 1});
  int64_t groups = n.integer("groups", 1);
  Tensor bias = n.optionalTensor("bias");
  if (n.refused())
    return failure();
  Tensor weight = asImages(n, n.tensor("weight"));
  Shape shape = n.resultShape();
  if (isSequence(n))
    shape.insert(shape.begin() + 2, 1);
  Type type = tensorType(input.element(), shape);
  Tensor result = {Conv2dOp::create(n.builder, n.loc, type, input.value,
                                    weight.value, bias.value, stride, padding,
                                    dilation, groups),
                   shape};
  return n.give(n.reshape(result, n.resultShape()));
}

static LogicalResult checkImages(NodeImporter &n) {
  int64_t rank = n.tensor("input").rank();
  if ((rank != 3 && rank != 4) || n.tensor("weight").rank() != rank)
    return n.refuse("of tensors that are no batch of images or sequences");
  return success();
}

static LogicalResult importConv2d(NodeImporter &n) {
  if (failed(checkImages(n)))
    return failure();
  if (n.flag("transposed", false))
    return n.refuse("transposed");
  return giveConv2d(n, asImages(n, n.tensor("input")),
                    pairOf(n, "padding", {0, 0}));
}

/// Padding "same" gives a place for each place; what does not divide by two is
/// one more at the end.
static LogicalResult importPaddedConv2d(NodeImporter &n) {
  if (failed(checkImages(n)))
    return failure();
  Tensor input = asImages(n, n.tensor("input")),
         weight = asImages(n, n.tensor("weight"));
  SmallVector<int64_t> dilation = pairOf(n, "dilation", {1, 1}),
                       padding = {0, 0};
  if (n.text("padding", "valid") != "same")
    return giveConv2d(n, input, padding);
  for (int64_t dim : {0, 1}) {
    std::optional<int64_t> kernel = weight.shape[2 + dim].constant();
    if (!kernel)
      return n.refuse("with kernels of a size not known when importing");
    int64_t reach = (*kernel - 1) * dilation[dim];
    padding[dim] = reach / 2;
    if (reach % 2 != 0)
      input = n.pad(input, 2 + dim, 0, 1, 0.0);
  }
  return giveConv2d(n, input, padding);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static LogicalResult importMaxPool(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  if (operand.rank() != 4)
    return n.refuse("of a tensor that is no batch of images");
  if (n.isUsed(1))
    return n.refuse("whose indices are used");
  SmallVector<int64_t> kernel = pairOf(n, "kernel_size", {1, 1}),
                       stride = pairOf(n, "stride", kernel),
                       padding = pairOf(n, "padding", {0, 0}),
                       dilation = pairOf(n, "dilation", {1, 1});
  bool ceil = n.flag("ceil_mode", false);
  if (n.refused())
    return failure();
  const Shape &shape = n.resultShape();
  auto op = MaxPool2dOp::create(
      n.builder, n.loc, tensorType(operand.element(), shape),
      tensorType(n.builder.getI32Type(), shape), operand.value, kernel, stride,
      padding, dilation, ceil);
  return n.give({op.getResult(), shape});
}

namespace {
/// The windows of an average along one dim, and what each is divided by.
struct AverageWindow {
  int64_t begin, end;
  double divisor;
};
} // namespace

/// A matrix that averages rows of `size` elements.
static DenseElementsAttr averageMatrix(Type element, int64_t size,
                                       ArrayRef<AverageWindow> windows) {
  auto type = RankedTensorType::get({int64_t(windows.size()), size}, element);
  const auto &semantics = cast<FloatType>(element).getFloatSemantics();
  SmallVector<APFloat> values(type.getNumElements(), APFloat(semantics, 0));
  for (auto [row, window] : llvm::enumerate(windows))
    for (int64_t column = window.begin; column < window.end; ++column) {
      APFloat value(1 / window.divisor);
      bool loses;
      value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
      values[row * size + column] = value;
    }
  return DenseElementsAttr::get(type, values);
}

/// Averages along the last dim: a product with a constant matrix, or a mean
/// where one window covers everything.
static Tensor averageLast(NodeImporter &n, Tensor operand,
                          ArrayRef<AverageWindow> windows) {
  int64_t size = *operand.shape.back().constant(), last = operand.rank() - 1;
  Type element = operand.element();
  if (windows.size() == 1 && windows[0].end - windows[0].begin == size) {
    Tensor sum = n.reduce<ReduceSumOp>(operand, {last}, /*keep=*/true);
    return n.binary<DivOp>(sum, n.fill(windows[0].divisor, element, sum.shape));
  }
  DenseElementsAttr matrix = averageMatrix(element, size, windows);
  Value weight = ConstantOp::create(n.builder, n.loc, matrix.getType(), matrix);
  Shape shape = operand.shape;
  shape.back() = pt2::SizeExpr(int64_t(windows.size()));
  return {LinearOp::create(n.builder, n.loc, tensorType(element, shape),
                           operand.value, weight, /*transposed=*/false),
          shape};
}

/// Averages along height and width.
static LogicalResult giveAverage(NodeImporter &n, const Tensor &operand,
                                 ArrayRef<AverageWindow> rows,
                                 ArrayRef<AverageWindow> columns) {
  Tensor wide = averageLast(n, operand, columns);
  int64_t last = operand.rank() - 1;
  Tensor turned = n.swapDims(wide, last - 1, last);
  return n.give(n.swapDims(averageLast(n, turned, rows), last - 1, last));
}

/// Height and width of images, where they are known.
static std::optional<std::pair<int64_t, int64_t>> sizeOf(const Tensor &images) {
  if (images.rank() < 2 || !isa<FloatType>(images.element()))
    return std::nullopt;
  auto height = images.shape[images.rank() - 2].constant(),
       width = images.shape.back().constant();
  if (!height || !width)
    return std::nullopt;
  return std::pair(*height, *width);
}

/// Window `i` of `count` covers the elements from i/count to (i+1)/count of
/// `size`, rounded outward.
static SmallVector<AverageWindow> adaptiveWindows(int64_t size, int64_t count) {
  SmallVector<AverageWindow> windows;
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = i * size / count,
            end = ((i + 1) * size + count - 1) / count;
    windows.push_back({begin, end, double(end - begin)});
  }
  return windows;
}

static LogicalResult importAdaptiveAverage(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  auto size = sizeOf(operand);
  if (!size)
    return n.refuse("of images whose size is not known when importing");
  SmallVector<int64_t> count = pairOf(n, "output_size", {0, 0});
  if (n.refused() || count[0] < 1 || count[1] < 1)
    return n.refuse("without an output size");
  // The mean over a whole image is one sum.
  if (count[0] == 1 && count[1] == 1) {
    int64_t last = operand.rank() - 1;
    Tensor sum = n.reduce<ReduceSumOp>(operand, {last - 1, last}, true);
    double area = double(size->first) * double(size->second);
    return n.give(n.binary<DivOp>(sum, n.fill(area, sum.element(), sum.shape)));
  }
  return giveAverage(n, operand, adaptiveWindows(size->first, count[0]),
                     adaptiveWindows(size->second, count[1]));
}

/// As PyTorch counts them: a window's part in the padding counts where
/// `countPadding`, what `ceil` adds beyond it never.
static SmallVector<AverageWindow> slidingWindows(int64_t size, int64_t count,
                                                 int64_t kernel, int64_t stride,
                                                 int64_t padding,
                                                 bool countPadding) {
  SmallVector<AverageWindow> windows;
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = i * stride - padding,
            end = std::min(begin + kernel, size + padding);
    int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, size);
    windows.push_back(
        {first, last, double(countPadding ? end - begin : last - first)});
  }
  return windows;
}

static LogicalResult importAverage(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  auto size = sizeOf(operand);
  SmallVector<int64_t> kernel = pairOf(n, "kernel_size", {1, 1}),
                       stride = pairOf(n, "stride", kernel),
                       padding = pairOf(n, "padding", {0, 0});
  bool countPadding = n.flag("count_include_pad", true);
  if (n.isGiven("divisor_override"))
    return n.refuse("with a divisor of its own");
  const Shape &shape = n.resultShape();
  if (!size || shape.size() < 2 || !shape.back().constant() ||
      !shape[shape.size() - 2].constant())
    return n.refuse("of images whose size is not known when importing");
  if (n.refused())
    return failure();
  auto windows = [&](int64_t extent, size_t dim) {
    return slidingWindows(extent, *shape[shape.size() - 2 + dim].constant(),
                          kernel[dim], stride[dim], padding[dim], countPadding);
  };
  return giveAverage(n, operand, windows(size->first, 0),
                     windows(size->second, 1));
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

namespace {
/// What all forms of batch norm take.
struct BatchNormArguments {
  explicit BatchNormArguments(NodeImporter &n)
      : operand(n.tensor("input")), weight(n.optionalTensor("weight")),
        bias(n.optionalTensor("bias")), mean(n.optionalTensor("running_mean")),
        variance(n.optionalTensor("running_var")),
        epsilon(n.number("eps", 1e-5)) {}

  /// Why it cannot be imported; empty if it can.
  std::string problem() const {
    if (operand.rank() < 2)
      return "of a tensor without channels";
    if (!mean || !variance)
      return "without running averages, which evaluation needs";
    for (const Tensor *vector : {&weight, &bias, &mean, &variance})
      if (*vector && vector->element() != operand.element())
        return "of several element types";
    return "";
  }

  Tensor operand, weight, bias, mean, variance;
  double epsilon;
};
} // namespace

static LogicalResult importInference(NodeImporter &n) {
  BatchNormArguments in(n);
  if (std::string problem = in.problem(); !problem.empty())
    return n.refuse(problem);
  if (n.refused())
    return failure();
  return n.give({BatchNormInferenceOp::create(
                     n.builder, n.loc, in.operand.type(), in.operand.value,
                     in.weight.value, in.bias.value, in.mean.value,
                     in.variance.value, APFloat(in.epsilon)),
                 in.operand.shape});
}

/// The functional form gives the new running averages as results 3 and 4; the
/// graph's signature says of which buffers they are.
static LogicalResult importBatchNorm(NodeImporter &n) {
  if (!n.flag("training", true))
    return importInference(n);
  BatchNormArguments in(n);
  if (std::string problem = in.problem(); !problem.empty())
    return n.refuse(problem);
  if (n.isUsed(1) || n.isUsed(2))
    return n.refuse("whose statistics are used");
  double momentum = n.number("momentum", 0.1);
  if (n.refused())
    return failure();
  Type channels = in.mean.type();
  auto op = BatchNormOp::create(
      n.builder, n.loc,
      TypeRange{in.operand.type(), channels, channels, channels, channels},
      in.operand.value, in.weight.value, in.bias.value, in.mean.value,
      in.variance.value, APFloat(momentum), APFloat(in.epsilon));
  if (failed(n.give({op.getResult(), in.operand.shape})) ||
      failed(n.give({op.getNewRunningMean(), in.mean.shape}, 3)))
    return failure();
  return n.give({op.getNewRunningVariance(), in.variance.shape}, 4);
}

ArrayRef<ImportRule> smp::convolutionRules() {
  static const ImportRule rules[] = {
      {"aten.conv1d.default", importConv2d, "input weight"},
      {"aten.conv1d.padding", importPaddedConv2d, "input weight"},
      {"aten.conv2d.default", importConv2d, "input weight"},
      {"aten.conv2d.padding", importPaddedConv2d, "input weight"},
      {"aten.convolution.default", importConv2d, "input weight"},
      {"aten.max_pool2d.default", importMaxPool, "self"},
      {"aten.max_pool2d_with_indices.default", importMaxPool, "self"},
      {"aten.adaptive_avg_pool2d.default", importAdaptiveAverage, "self"},
      {"aten._adaptive_avg_pool2d.default", importAdaptiveAverage, "self"},
      {"aten.avg_pool2d.default", importAverage, "self"},
      {"aten._native_batch_norm_legit_functional.default", importBatchNorm,
       "input"},
      {"aten._native_batch_norm_legit_no_training.default", importInference,
       "input"},
  };
  return rules;
}
