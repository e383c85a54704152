//===- ConvolutionCases.cpp - Gradient tests of convolutions and norms ----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"
#include <algorithm>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

/// Windows drawn at random over an image that they fit in.
struct RandomWindows {
  explicit RandomWindows(GradientCase &c, int64_t batch, int64_t channels) {
    image = {batch, channels, 0, 0};
    for (int dim = 0; dim < 2; ++dim) {
      kernel.push_back(c.pick(1, 3));
      stride.push_back(c.pick(1, 2));
      dilation.push_back(c.pick(1, 2));
      padding.push_back(c.pick(0, kernel.back() / 2));
      int64_t reach = (kernel.back() - 1) * dilation.back() + 1;
      image[2 + dim] =
          std::max<int64_t>(1, reach - 2 * padding.back()) + c.pick(0, 3);
    }
  }
  Shape image;
  SmallVector<int64_t> kernel, stride, padding, dilation;
};

/// Groups of one channel too, which is depthwise.
static void conv2d(GradientCase &c) {
  int64_t groups = c.pick(1, 3), channels = c.pick(1, 2);
  RandomWindows w(c, c.pick(1, 2), groups * channels);
  int64_t kernels = groups * c.pick(1, 2);
  Value input = c.number(w.image);
  Value weight = c.number({kernels, channels, w.kernel[0], w.kernel[1]});
  Value bias = c.pick(0, 1) ? c.number({kernels}) : Value();
  c.finish(c.create<Conv2dOp>(input, weight, bias, w.stride, w.padding,
                              w.dilation, groups));
}

/// All elements apart from each other, so that no step changes which is the
/// largest.
static void maxPool2d(GradientCase &c) {
  RandomWindows w(c, c.pick(1, 2), c.pick(1, 2));
  Value operand = c.number(w.image);
  auto elements = c.arguments.back().mutableFloats();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = 0.01 * (i + 1);
  std::shuffle(elements.begin(), elements.end(), c.random);
  c.finish(c.create<MaxPool2dOp>(operand, w.kernel, w.stride, w.padding,
                                 w.dilation, c.pick(0, 1) == 1));
}

/// [N, C], [N, C, L] or images.
static Shape channelsFirst(GradientCase &c, int64_t channels) {
  Shape shape = {c.pick(2, 4), channels};
  for (int64_t dims = c.pick(0, 2); dims > 0; --dims)
    shape.push_back(c.pick(1, 3));
  return shape;
}

static void batchNorm(GradientCase &c) {
  int64_t channels = c.pick(1, 3);
  Value operand = c.number(channelsFirst(c, channels));
  Value weight = c.pick(0, 1) ? c.number({channels}) : Value();
  Value bias = c.pick(0, 1) ? c.number({channels}) : Value();
  Value mean = c.fixed(randomTensor(c.random, {channels}));
  Value variance = c.fixed(Tensor::filled(DataType::F32, {channels}, 0.5));
  c.finish(c.create<BatchNormOp>(operand, weight, bias, mean, variance,
                                 APFloat(0.1), APFloat(1e-2)));
}

static void batchNormInference(GradientCase &c) {
  int64_t channels = c.pick(1, 3);
  Value operand = c.number(channelsFirst(c, channels));
  Value weight = c.pick(0, 1) ? c.number({channels}) : Value();
  Value bias = c.pick(0, 1) ? c.number({channels}) : Value();
  Value mean = c.fixed(randomTensor(c.random, {channels}));
  Value variance = c.fixed(Tensor::filled(DataType::F32, {channels}, 0.5));
  c.finish(c.create<BatchNormInferenceOp>(operand, weight, bias, mean, variance,
                                          APFloat(1e-2)));
}

ArrayRef<NamedCase> interpret::convolutionCases() {
  static constexpr NamedCase cases[] = {
      {"smp.conv2d", conv2d},
      {"smp.max_pool2d", maxPool2d},
      {"smp.batch_norm", batchNorm},
      {"smp.batch_norm_inference", batchNormInference},
  };
  return cases;
}
