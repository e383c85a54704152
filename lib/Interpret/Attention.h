//===- Attention.h - Scores and probabilities of attention ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_ATTENTION_H
#define SMP_LIB_INTERPRET_ATTENTION_H

#include "smp/IR/SmpDialect.h"
#include "smp/Interpret/Tensor.h"
#include <cmath>
#include <limits>

namespace smp::interpret {

/// What is added to the scaled score of row and key in scores [B, H, S, T]: the
/// bias, and minus infinity for a key that the query does not see.
class ScoreBias {
public:
  ScoreBias(Shape scores, MaskAttr mask, const Tensor *bias)
      : scores(std::move(scores)), mask(mask), bias(bias) {}

  double at(int64_t row, int64_t key) const {
    int64_t query = row % scores[2];
    if (!mask.allows(query, key))
      return -std::numeric_limits<double>::infinity();
    if (!bias)
      return 0;
    if (bias->isFloat())
      return bias->floats()[element(row, key)];
    return bias->ints()[element(row, key)]
               ? 0
               : -std::numeric_limits<double>::infinity();
  }

  /// Which element of the bias belongs to a score.
  int64_t element(int64_t row, int64_t key) const {
    int64_t place[] = {row / scores[2] / scores[1], row / scores[2] % scores[1],
                       row % scores[2], key};
    int64_t element = 0;
    for (int64_t dim = 0; dim < 4; ++dim)
      element =
          element * bias->dim(dim) + (bias->dim(dim) == 1 ? 0 : place[dim]);
    return element;
  }

private:
  Shape scores;
  MaskAttr mask;
  const Tensor *bias;
};

/// ln(sum(exp(x))), minus infinity where there is nothing to sum.
inline double logSumExp(const std::vector<double> &x) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double value : x)
    largest = std::max(largest, value);
  if (std::isinf(largest))
    return largest;
  for (double value : x)
    sum += std::exp(value - largest);
  return largest + std::log(sum);
}

/// Scores to the weights of a row, zero where it sees no key.
inline void toProbabilities(std::vector<double> &scores, double lse) {
  for (double &score : scores)
    score = std::isinf(score) && score < 0 ? 0 : std::exp(score - lse);
}

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_ATTENTION_H
