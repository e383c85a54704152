//===- ConvolutionTest.cpp - Convolutions against plain loops -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Device/Convolution.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace smp;
using namespace smp::runtime;

namespace {

struct Images {
  std::vector<float> input, kernels, output;
};

/// Windows of 3 x 2 over images of 9 x 7.
ConvolutionCommand shape(int64_t rows, int64_t tiles, int64_t channels,
                         int64_t kernels, int64_t groups) {
  ConvolutionCommand c;
  c.rows = rows, c.tiles = tiles, c.groups = groups;
  c.kernel = {3, 2}, c.stride = {2, 1}, c.padding = {1, 1};
  c.dilation = {1, 2};
  c.input = {channels, 9, 7};
  c.output = {kernels, (9 + 2 - 2 - 1) / 2 + 1, 7 + 2 - 2 - 1 + 1};
  return c;
}

int64_t kernelSize(const ConvolutionCommand &c) {
  return c.output[0] * (c.input[0] / c.groups) * c.kernel[0] * c.kernel[1];
}

Images randomImages(const ConvolutionCommand &c) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto make = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float &value : values)
      value = uniform(random);
    return values;
  };
  return {make(c.rows * c.input[0] * c.input[1] * c.input[2]),
          make(kernelSize(c)),
          make(c.rows * c.output[0] * c.output[1] * c.output[2])};
}

/// Calls `term(x, w, y)` for each term of the sum.
template <typename Term>
void forEachTerm(const ConvolutionCommand &c, Term term) {
  int64_t channels = c.input[0] / c.groups, perGroup = c.output[0] / c.groups;
  for (int64_t n = 0; n < c.rows; ++n)
    for (int64_t o = 0; o < c.output[0]; ++o)
      for (int64_t i = 0; i < c.output[1]; ++i)
        for (int64_t j = 0; j < c.output[2]; ++j)
          for (int64_t k = 0; k < channels * c.kernel[0] * c.kernel[1]; ++k) {
            int64_t channel = k / (c.kernel[0] * c.kernel[1]);
            int64_t row = i * c.stride[0] - c.padding[0] +
                          k / c.kernel[1] % c.kernel[0] * c.dilation[0];
            int64_t column = j * c.stride[1] - c.padding[1] +
                             k % c.kernel[1] * c.dilation[1];
            if (row < 0 || row >= c.input[1] || column < 0 ||
                column >= c.input[2])
              continue;
            int64_t from = o / perGroup * channels + channel;
            term(((n * c.input[0] + from) * c.input[1] + row) * c.input[2] +
                     column,
                 o * channels * c.kernel[0] * c.kernel[1] + k,
                 ((n * c.output[0] + o) * c.output[1] + i) * c.output[2] + j);
          }
}

struct Operands {
  std::vector<float> a, b, c;
};

Operands operandsOf(const ConvolutionCommand &c, const Images &images) {
  if (c.pass == ConvolutionPass::Forward)
    return {images.input, images.kernels,
            std::vector<float>(images.output.size(), NAN)};
  if (c.pass == ConvolutionPass::BackwardData)
    return {images.output, images.kernels,
            std::vector<float>(images.input.size(), NAN)};
  return {images.output, images.input,
          std::vector<float>(images.kernels.size() * size_t(c.tiles), NAN)};
}

std::vector<double> plain(const ConvolutionCommand &c, const Images &images) {
  auto &[x, w, y] = images;
  std::vector<double> sums(operandsOf(c, images).c.size());
  int64_t perTile = int64_t(y.size()) / c.tiles;
  forEachTerm(c, [&](int64_t i, int64_t k, int64_t o) {
    if (c.pass == ConvolutionPass::Forward)
      sums[o] += double(x[i]) * w[k];
    else if (c.pass == ConvolutionPass::BackwardData)
      sums[i] += double(y[o]) * w[k];
    else
      sums[o / perTile * kernelSize(c) + k] += double(y[o]) * x[i];
  });
  return sums;
}

/// The result with scratch memory of `floats` for each tile.
std::vector<float> compute(ConvolutionCommand c, const Images &images,
                           int64_t floats, int threads = 1) {
  c.scratch.bytes = c.tiles * floats * 4;
  auto convolution = Convolution::create(c);
  EXPECT_TRUE(convolution) << convolution.error().str();
  if (!convolution)
    return {};
  Operands operands = operandsOf(c, images);
  std::vector<float> memory(size_t(c.tiles * floats) + 16);
  // At a multiple of a cache line, as the compiler plans it.
  void *place = memory.data();
  size_t space = memory.size() * sizeof memory[0];
  auto *scratch = static_cast<float *>(
      std::align(64, size_t(c.scratch.bytes), place, space));
  auto run = [&](int64_t begin, int64_t end) {
    (*convolution)
        ->run(operands.a.data(), operands.b.data(), operands.c.data(), scratch,
              begin, end);
  };
  if (threads == 1) {
    for (int64_t tile = c.tiles; tile-- > 0;)
      run(tile, tile + 1);
    return operands.c;
  }
  int64_t half = c.tiles / 2;
  std::thread other([&] { run(half, c.tiles); });
  run(0, half);
  other.join();
  return operands.c;
}

constexpr ConvolutionPass passes[] = {ConvolutionPass::Forward,
                                      ConvolutionPass::BackwardData,
                                      ConvolutionPass::BackwardWeights};
/// More than any of these shapes can use.
constexpr int64_t plenty = 1 << 17;

void expectPlain(ConvolutionCommand c, int64_t floats) {
  Images images = randomImages(c);
  for (ConvolutionPass pass : passes) {
    c.pass = pass;
    std::vector<float> actual = compute(c, images, floats);
    std::vector<double> expected = plain(c, images);
    ASSERT_EQ(actual.size(), expected.size());
    double largest = 0, difference = 0;
    for (size_t i = 0; i < actual.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      double error = std::abs(expected[i] - actual[i]);
      // Not a number must not pass for equal.
      difference = error <= difference ? difference : error;
    }
    EXPECT_LE(difference, 1e-5 * largest) << "pass " << int(pass);
  }
}

} // namespace

TEST(ConvolutionTest, EqualsPlainLoops) {
  expectPlain(shape(4, 2, 3, 8, 1), plenty);
  expectPlain(shape(3, 3, 16, 32, 1), plenty);
}

TEST(ConvolutionTest, Groups) {
  expectPlain(shape(4, 4, 6, 4, 2), plenty);
  expectPlain(shape(2, 1, 16, 16, 16), plenty);
  expectPlain(shape(2, 1, 5, 10, 5), plenty);
}

TEST(ConvolutionTest, WorksInAnyMemory) {
  // Columns, but no copies of images; then nothing at all.
  expectPlain(shape(2, 2, 16, 32, 1), 16 * 6 * 35 + 4 * 16 * 32 * 6 + 1024);
  expectPlain(shape(2, 2, 16, 32, 1), 16);
}

TEST(ConvolutionTest, UsesMemoryThatItHas) {
  ConvolutionCommand c = shape(2, 1, 16, 32, 1);
  c.scratch.bytes = 64;
  auto poor = Convolution::create(c);
  c.scratch.bytes = plenty * 4;
  auto rich = Convolution::create(c);
  ASSERT_TRUE(poor && rich);
  EXPECT_NE((*poor)->implementation(), (*rich)->implementation());
}

TEST(ConvolutionTest, SaysWhatItUses) {
  // Some channels to a group, one, and none that fill a vector.
  for (ConvolutionCommand c :
       {shape(4, 2, 16, 32, 1), shape(4, 2, 5, 10, 5), shape(4, 4, 6, 4, 2),
        shape(2, 1, 1, 1, 1), shape(2, 1, 12, 20, 1)}) {
    Images images = randomImages(c);
    for (ConvolutionPass pass : passes) {
      c.pass = pass;
      std::optional<int64_t> bytes = Convolution::scratchBytes(c);
      ASSERT_TRUE(bytes);
      EXPECT_LE(*bytes, plenty * 4);
      c.scratch.bytes = plenty * 4 * c.tiles;
      auto rich = Convolution::create(c);
      c.scratch.bytes = *bytes * c.tiles;
      auto exact = Convolution::create(c);
      ASSERT_TRUE(rich && exact);
      EXPECT_EQ((*rich)->implementation(), (*exact)->implementation());
      int64_t floats = (*bytes + 255) / 256 * 64;
      EXPECT_EQ(compute(c, images, plenty), compute(c, images, floats));
    }
  }
}

TEST(ConvolutionTest, ThreadsChangeNoBit) {
  for (int64_t groups : {1, 16})
    for (ConvolutionPass pass : passes) {
      ConvolutionCommand c = shape(8, 8, 16, 32, groups);
      c.pass = pass;
      Images images = randomImages(c);
      EXPECT_EQ(compute(c, images, plenty, 1), compute(c, images, plenty, 2));
    }
}
