//===- Convolution.h - The terms of a convolution ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution is bilinear: a sum of terms input · kernel = output over the
// same places, whichever of the three is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_CONVOLUTION_H
#define SMP_LIB_INTERPRET_CONVOLUTION_H

#include "smp/Interpret/Tensor.h"

namespace smp::interpret {

/// Images [N, C, H, W] and kernels [O, C / groups, KH, KW].
struct Convolution {
  Shape input, kernels, output;
  std::span<const int64_t> stride, padding, dilation;
  int64_t groups = 1;

  /// Calls `term(x, w, y)` with the elements of input, kernels and output of
  /// each term, the output's in ascending order.
  template <typename Term> void forEachTerm(Term term) const {
    int64_t perGroup = kernels[0] / groups;
    forEachPlace(output, [&](std::span<const int64_t> at, int64_t y) {
      int64_t channels = kernels[1], first = at[1] / perGroup * channels;
      for (int64_t channel = 0; channel < channels; ++channel)
        forEachInWindow(at, [&](int64_t row, int64_t column, int64_t place) {
          int64_t x = (at[0] * input[1] + first + channel) * input[2] + row;
          int64_t w = (at[1] * channels + channel) * kernels[2] * kernels[3];
          term(x * input[3] + column, w + place, y);
        });
    });
  }

private:
  template <typename Visitor>
  void forEachInWindow(std::span<const int64_t> at, Visitor visit) const {
    for (int64_t i = 0; i < kernels[2]; ++i) {
      int64_t row = at[2] * stride[0] - padding[0] + i * dilation[0];
      if (row < 0 || row >= input[2])
        continue;
      for (int64_t j = 0; j < kernels[3]; ++j) {
        int64_t column = at[3] * stride[1] - padding[1] + j * dilation[1];
        if (column >= 0 && column < input[3])
          visit(row, column, i * kernels[3] + j);
      }
    }
  }
};

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_CONVOLUTION_H
