//===- Initializers.cpp - Initial values of parameters --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Initializers.h"
#include "smp/Support/Json.h"
#include "smp/Support/Philox.h"
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

using namespace smp;

static Result<double> number(const nlohmann::json &json, const char *key) {
  auto entry = json.find(key);
  if (entry == json.end() || !entry->is_number())
    return Error{"initializer expects a number '" + std::string(key) +
                 "', got " +
                 (entry == json.end() ? "none" : shortText(*entry))};
  return entry->get<double>();
}

/// [begin, end), elements of a tensor.
static Result<std::pair<int64_t, int64_t>> rangeOf(const nlohmann::json &json) {
  bool isRange = json.is_array() && json.size() == 2 &&
                 json[0].is_number_integer() && json[1].is_number_integer();
  int64_t begin = isRange ? json[0].get<int64_t>() : 0,
          end = isRange ? json[1].get<int64_t>() : -1;
  if (begin < 0 || end < begin)
    return Error{"initializer expects 'zeroed' to be the first element and the "
                 "one behind the last, got " +
                 shortText(json)};
  return std::pair(begin, end);
}

Result<Initializer> Initializer::fromJson(const nlohmann::json &json) {
  auto kind = json.find("kind");
  if (!json.is_object() || kind == json.end() || !kind->is_string())
    return Error{"initializer expects an object with 'kind', got " +
                 shortText(json)};
  using Keys = std::initializer_list<const char *>;
  auto make = [&](Kind which, Keys keys) -> Result<Initializer> {
    Initializer result{which};
    double *numbers[] = {&result.a, &result.b, &result.low, &result.high};
    for (size_t i = 0; i < keys.size(); ++i) {
      SMP_ASSIGN_OR_RETURN(*numbers[i], number(json, keys.begin()[i]));
    }
    if (auto zeroed = json.find("zeroed"); zeroed != json.end()) {
      SMP_ASSIGN_OR_RETURN(auto range, rangeOf(*zeroed));
      std::tie(result.zeroBegin, result.zeroEnd) = range;
    }
    return result;
  };
  if (*kind == "constant")
    return make(Kind::Constant, {"value"});
  if (*kind == "normal")
    return make(Kind::Normal, {"mean", "std"});
  if (*kind == "uniform")
    return make(Kind::Uniform, {"low", "high"});
  if (*kind == "truncated_normal")
    return make(Kind::TruncatedNormal, {"mean", "std", "low", "high"});
  return Error{"initializer expects kind 'constant', 'normal', 'uniform' or "
               "'truncated_normal', got " +
               shortText(*kind)};
}

/// A standard normal number for `element`: Box-Muller on the pair it is in.
static double normal(PhiloxKey key, uint64_t element) {
  uint64_t first = element & ~uint64_t{1};
  double u1 = philoxUniform(key, 0, first);
  double u2 = philoxUniform(key, 0, first + 1);
  double radius = std::sqrt(-2 * std::log(1 - u1));
  double angle = 2 * std::numbers::pi * u2;
  return radius * (element & 1 ? std::sin(angle) : std::cos(angle));
}

/// The share of a standard normal distribution below `x`.
static double normalShare(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

/// The value below which a share `p` in (0, 0.5] of a standard normal
/// distribution lies: P. Acklam's rational approximation (2003, relative error
/// 1.2e-9), then one step of Halley's method.
static double normalQuantile(double p) {
  double x;
  if (p < 0.02425) {
    double q = std::sqrt(-2 * std::log(p));
    x = (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q -
            2.400758277161838) *
               q -
           2.549732539343734) *
              q +
          4.374664141464968) *
             q +
         2.938163982698783) /
        ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q +
           2.445134137142996) *
              q +
          3.754408661907416) *
             q +
         1);
  } else {
    double q = p - 0.5, r = q * q;
    x = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r -
            2.759285104469687e+02) *
               r +
           1.383577518672690e+02) *
              r -
          3.066479806614716e+01) *
             r +
         2.506628277459239) *
        q /
        (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r -
            1.556989798598866e+02) *
               r +
           6.680131188771972e+01) *
              r -
          1.328068155288572e+01) *
             r +
         1);
  }
  double error = normalShare(x) - p;
  double u = error * std::sqrt(2 * std::numbers::pi) * std::exp(x * x / 2);
  return x - u / (1 + x * u / 2);
}

/// A number of the truncated distribution from a uniform one: the quantile of
/// that part of the shares. Shares near 1 cannot be told apart, those near 0
/// can: what lies above the mean is drawn below it and turned over.
static double truncatedNormal(const Initializer &initializer, double uniform) {
  double mean = initializer.a, deviation = initializer.b;
  if (deviation == 0)
    return mean;
  double low = (initializer.low - mean) / deviation;
  double high = (initializer.high - mean) / deviation;
  bool turned = low + high > 0;
  double from = turned ? -high : low, to = turned ? -low : high;
  double below = normalShare(from), share = normalShare(to) - below;
  // The middle of the 2^-24 that a uniform number stands for is never 0 or 1.
  double p = below + (uniform + 0x1p-25) * share;
  double x = p <= 0 ? to : p > 0.5 ? -normalQuantile(1 - p) : normalQuantile(p);
  x = std::min(std::max(x, from), to);
  return mean + deviation * (turned ? -x : x);
}

void smp::initialize(const Initializer &initializer, uint64_t seed,
                     std::string_view name, int64_t begin,
                     std::span<float> out) {
  PhiloxKey key = philoxKey(seed, fnv1a64(name));
  double a = initializer.a, b = initializer.b;
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t element = begin + i;
    if (int64_t(element) >= initializer.zeroBegin &&
        int64_t(element) < initializer.zeroEnd) {
      out[i] = 0;
      continue;
    }
    switch (initializer.kind) {
    case Initializer::Kind::Constant:
      out[i] = static_cast<float>(a);
      break;
    case Initializer::Kind::Normal:
      out[i] = static_cast<float>(a + b * normal(key, element));
      break;
    case Initializer::Kind::Uniform:
      out[i] = static_cast<float>(a + (b - a) * philoxUniform(key, 0, element));
      break;
    case Initializer::Kind::TruncatedNormal:
      out[i] = static_cast<float>(
          truncatedNormal(initializer, philoxUniform(key, 0, element)));
      break;
    }
  }
}

void smp::initializeReference(std::string_view name, int rank, int64_t begin,
                              std::span<float> out) {
  uint64_t hash = fnv1a64(name);
  bool scale = rank == 1 && name.ends_with(".weight");
  double spread = rank >= 2 || scale ? 0.1 : 0.05;
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t bits = splitmix64(hash + begin + i) >> 40;
    double u = 2 * (static_cast<double>(bits) * 0x1p-24) - 1;
    out[i] = static_cast<float>((scale ? 1.0 : 0.0) + spread * u);
  }
}
