//===- Initializers.h - Initial values of parameters ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every initial value is a pure function of seed, parameter name and element
// index, so it does not depend on which rank computes it, or how many do.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_INITIALIZERS_H
#define SMP_SUPPORT_INITIALIZERS_H

#include "smp/Support/Result.h"
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace smp {

struct Initializer {
  enum class Kind { Constant, Normal, Uniform, TruncatedNormal };
  Kind kind = Kind::Constant;
  double a = 0; ///< value, mean or low
  double b = 0; ///< –, standard deviation or high
  /// Of a truncated normal, whose values outside are drawn again.
  double low = 0, high = 0;
  /// Elements [zeroBegin, zeroEnd) are 0: the row of a padding token.
  int64_t zeroBegin = 0, zeroEnd = 0;

  /// {"kind":"normal","mean":0.0,"std":0.02} and so on.
  static Result<Initializer> fromJson(const nlohmann::json &json);
};

/// Elements `begin`, `begin`+1, ... of the tensor `name`.
void initialize(const Initializer &initializer, uint64_t seed,
                std::string_view name, int64_t begin, std::span<float> out);

/// The reference weights of the tests, a stated function of name and index
/// that the PyTorch side computes as well. `rank` is the number of dims.
void initializeReference(std::string_view name, int rank, int64_t begin,
                         std::span<float> out);

} // namespace smp

#endif // SMP_SUPPORT_INITIALIZERS_H
