//===- Convolution.h - Convolutions by one-thread library calls -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN chooses an implementation for a convolution and generates its code,
// which takes milliseconds and memory: once, before the first step. A step
// then only executes it, in memory that the compiler has planned. What the
// library would like but does not fit there (images and kernels in an order of
// its own, columns) is not chosen. The compiler asks for what it likes on the
// machine that it compiles for; elsewhere it may have to take something else.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DEVICE_CONVOLUTION_H
#define SMP_RUNTIME_DEVICE_CONVOLUTION_H

#include "smp/Support/Result.h"
#include "smp/runtime/Job/Job.h"

#include <memory>
#include <optional>

namespace smp::runtime {

class Convolution {
public:
  /// Chooses an implementation; an error if the library has none. Keeps what
  /// that many threads at a time need.
  static Result<std::unique_ptr<Convolution>>
  create(const ConvolutionCommand &command, int threads = 1);
  ~Convolution();

  /// Bytes of scratch memory that a tile takes if there is enough; none if the
  /// library has no implementation. The operands of the command do not matter.
  static std::optional<int64_t> scratchBytes(const ConvolutionCommand &command);

  /// Computes tiles [begin, end) on the calling thread alone. Different tiles,
  /// and commands that are alike, may run at once. The pointers are those of
  /// the command's operands; NaN is written where the library fails.
  void run(const float *a, const float *b, float *c, float *scratch,
           int64_t begin, int64_t end) const;

  /// The library's name of the implementation, such as "jit:avx2".
  const std::string &implementation() const;

private:
  struct Impl;
  explicit Convolution(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_DEVICE_CONVOLUTION_H
