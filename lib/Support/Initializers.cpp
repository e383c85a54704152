//===- Initializers.cpp - Initial values of parameters --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Initializers.h"
#include "smp/Support/Json.h"
#include "smp/Support/Philox.h"
#include <cmath>
#include <numbers>
#include <string>

using namespace smp;

static Result<double> number(const nlohmann::json &json, const char *key) {
  auto entry = json.find(key);
  if (entry == json.end() || !entry->is_number())
    return Error{"initializer expects a number '" + std::string(key) +
                 "', got " +
                 (entry == json.end() ? "none" : shortText(*entry))};
  return entry->get<double>();
}

Result<Initializer> Initializer::fromJson(const nlohmann::json &json) {
  auto kind = json.find("kind");
  if (!json.is_object() || kind == json.end() || !kind->is_string())
    return Error{"initializer expects an object with 'kind', got " +
                 shortText(json)};
  auto make = [&](Kind which, const char *a,
                  const char *b) -> Result<Initializer> {
    Initializer result{which};
    SMP_ASSIGN_OR_RETURN(result.a, number(json, a));
    if (b) {
      SMP_ASSIGN_OR_RETURN(result.b, number(json, b));
    }
    return result;
  };
  if (*kind == "constant")
    return make(Kind::Constant, "value", nullptr);
  if (*kind == "normal")
    return make(Kind::Normal, "mean", "std");
  if (*kind == "uniform")
    return make(Kind::Uniform, "low", "high");
  return Error{
      "initializer expects kind 'constant', 'normal' or 'uniform', got " +
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

void smp::initialize(const Initializer &initializer, uint64_t seed,
                     std::string_view name, int64_t begin,
                     std::span<float> out) {
  PhiloxKey key = philoxKey(seed, fnv1a64(name));
  double a = initializer.a, b = initializer.b;
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t element = begin + i;
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
