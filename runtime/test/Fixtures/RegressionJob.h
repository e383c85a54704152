//===- RegressionJob.h - A hand-made job for tests --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A regression y = (x W1 + noise(sample)) W2 with mean squared error and SGD
// with momentum, in two chunks, written as a job folder the way the compiler
// does: products, kernels, fills, a collective over rdp, transfers, counts,
// evaluation and prediction. And the same computation as plain loops.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_FIXTURES_REGRESSIONJOB_H
#define SMP_RUNTIME_TEST_FIXTURES_REGRESSIONJOB_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace smp::runtime::test {

struct RegressionShape {
  int64_t rows = 4, inputs = 6, hidden = 5, outputs = 3;
  int64_t microbatches = 3;
  unsigned pp = 1;
  bool oneByOne = false; ///< 1f1b instead of all forwards first
};

/// The files of the job, by name; tests damage them before writing.
using JobFiles = std::map<std::string, nlohmann::json>;

JobFiles makeRegressionJob(const RegressionShape &shape);

/// Writes the files and the kernels, with a valid hash, to a fresh folder
/// below the directory for temporary files; returns its path.
std::string writeJob(JobFiles files, const std::string &name);

/// `rows` samples as a safetensors file of "x" and "target"; returns the path.
std::string writeRegressionData(const RegressionShape &shape, int64_t rows,
                                const std::string &name);

/// Plain training with reference weights on the same samples: losses per step.
/// `order(position)` is the sample at a position of the run.
struct PlainRegression {
  explicit PlainRegression(const RegressionShape &shape);
  /// One update with the samples at the given positions; returns the loss.
  double step(const std::vector<std::pair<int64_t, int64_t>> &sampleAndGlobal,
              double learningRate);
  /// Mean squared error over samples [0, count), without noise.
  double evaluate(int64_t count) const;

  RegressionShape shape;
  std::vector<double> w1, w2, v1, v2;
};

/// Element `i` of input `x` (or of the target) of a sample.
double dataElement(int64_t sample, int64_t i, bool target);

} // namespace smp::runtime::test

#endif // SMP_RUNTIME_TEST_FIXTURES_REGRESSIONJOB_H
