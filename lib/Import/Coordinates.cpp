//===- Coordinates.cpp - Tensors as functions of coordinates --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include <algorithm>
#include <map>
#include <numeric>

using namespace smp;

//===----------------------------------------------------------------------===//
// Affine functions
//===----------------------------------------------------------------------===//

std::optional<int64_t> Affine::asConstant() const {
  for (int64_t coefficient : coefficients)
    if (coefficient != 0)
      return std::nullopt;
  return constant;
}

std::optional<size_t> Affine::asCoordinate() const {
  std::optional<size_t> found;
  for (size_t dim = 0; dim < coefficients.size(); ++dim) {
    if (coefficients[dim] == 0)
      continue;
    if (found || coefficients[dim] != 1)
      return std::nullopt;
    found = dim;
  }
  return constant == 0 ? found : std::nullopt;
}

std::optional<Affine> smp::add(const Affine &a, const Affine &b) {
  if (a.coefficients.size() != b.coefficients.size())
    return std::nullopt;
  Affine result = a;
  bool overflow =
      __builtin_add_overflow(a.constant, b.constant, &result.constant);
  for (size_t i = 0; i < a.coefficients.size(); ++i)
    overflow |= __builtin_add_overflow(a.coefficients[i], b.coefficients[i],
                                       &result.coefficients[i]);
  return overflow ? std::nullopt : std::optional(result);
}

std::optional<Affine> smp::scale(const Affine &a, int64_t factor) {
  Affine result = a;
  bool overflow = __builtin_mul_overflow(a.constant, factor, &result.constant);
  for (int64_t &coefficient : result.coefficients)
    overflow |= __builtin_mul_overflow(coefficient, factor, &coefficient);
  return overflow ? std::nullopt : std::optional(result);
}

std::optional<Affine> smp::substitute(const Affine &function,
                                      std::span<const Affine> replacements,
                                      size_t rank) {
  std::optional<Affine> result = Affine::number(function.constant, rank);
  for (size_t i = 0; i < function.coefficients.size() && result; ++i) {
    if (function.coefficients[i] == 0)
      continue;
    std::optional<Affine> term =
        scale(replacements[i], function.coefficients[i]);
    result = term ? add(*result, *term) : std::nullopt;
  }
  return result;
}

std::optional<Range> smp::rangeOf(const Affine &function,
                                  std::span<const int64_t> shape) {
  Range range{function.constant, function.constant};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1)
      return std::nullopt;
    int64_t reach;
    if (__builtin_mul_overflow(function.coefficients[i], shape[i] - 1, &reach))
      return std::nullopt;
    int64_t &end = reach < 0 ? range.low : range.high;
    if (__builtin_add_overflow(end, reach, &end))
      return std::nullopt;
  }
  return range;
}

/// Drops the coordinates of dims of size 1, which are 0.
static Affine canonical(Affine function, std::span<const int64_t> shape) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 1)
      function.coefficients[i] = 0;
  return function;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Elements Elements::ofInteger(const std::optional<Affine> &function,
                             std::span<const int64_t> shape) {
  Elements result;
  if (!function || !rangeOf(*function, shape))
    return result;
  result.kind = Kind::Integer;
  result.integer = canonical(*function, shape);
  return result;
}

Elements Elements::ofMagnitude(const Affine &function,
                               std::span<const int64_t> shape) {
  std::optional<Range> range = rangeOf(function, shape);
  if (range && range->high <= 0)
    return ofInteger(scale(function, -1), shape);
  Elements result = ofInteger(function, shape);
  if (range && range->low < 0)
    result.kind = Kind::Magnitude;
  return result;
}

Elements Elements::ofBoolean(bool value) {
  Elements result;
  result.kind = Kind::Boolean;
  if (value)
    result.alternatives.emplace_back();
  return result;
}

/// e ≥ 0 divided by what the coefficients have in common: the constant rounds
/// down, since the rest is a multiple.
static Affine reduced(Affine condition) {
  int64_t divisor = 0;
  for (int64_t coefficient : condition.coefficients)
    divisor = std::gcd(divisor, coefficient);
  if (divisor <= 1)
    return condition;
  int64_t rest = condition.constant % divisor;
  condition.constant = condition.constant / divisor - (rest < 0 ? 1 : 0);
  for (int64_t &coefficient : condition.coefficients)
    coefficient /= divisor;
  return condition;
}

/// Beyond this a mask is no simple function any more, and products of
/// alternatives would grow without bound.
static constexpr size_t kMaxAlternatives = 16;

/// Conditions that hold together, without those that follow from others; none
/// if they never do, or unknown numbers occur.
static std::optional<Conditions>
canonicalConditions(const Conditions &conditions,
                    std::span<const int64_t> shape, bool &isKnown) {
  // Of two that differ in the constant alone the smaller one implies the other.
  std::map<std::vector<int64_t>, int64_t> constants;
  for (const Affine &condition : conditions) {
    Affine simple = reduced(canonical(condition, shape));
    std::optional<Range> range = rangeOf(simple, shape);
    if (!range) {
      isKnown = false;
      return std::nullopt;
    }
    if (range->high < 0)
      return std::nullopt;
    if (range->low >= 0)
      continue;
    auto [entry, isNew] =
        constants.try_emplace(std::move(simple.coefficients), simple.constant);
    if (!isNew)
      entry->second = std::min(entry->second, simple.constant);
  }
  Conditions result;
  for (const auto &[coefficients, constant] : constants) {
    std::vector<int64_t> negated = coefficients;
    for (int64_t &coefficient : negated)
      coefficient = int64_t(-uint64_t(coefficient));
    // f ≥ -c and -f ≥ -d leave nothing between when c + d < 0.
    if (auto other = constants.find(negated); other != constants.end())
      if (__int128(constant) + other->second < 0)
        return std::nullopt;
    result.push_back({constant, coefficients});
  }
  return result;
}

/// Whether each of `weaker` follows from a condition of `stronger`.
static bool implies(const Conditions &stronger, const Conditions &weaker) {
  return std::ranges::all_of(weaker, [&](const Affine &wanted) {
    return std::ranges::any_of(stronger, [&](const Affine &given) {
      return given.coefficients == wanted.coefficients &&
             given.constant <= wanted.constant;
    });
  });
}

/// Whether one of two conditions always holds: f ≥ -c or -f ≥ -d, c + d ≥ -1.
static bool coverAll(const Conditions &a, const Conditions &b) {
  if (a.size() != 1 || b.size() != 1)
    return false;
  for (size_t i = 0; i < a[0].coefficients.size(); ++i)
    if (uint64_t(a[0].coefficients[i]) + uint64_t(b[0].coefficients[i]) != 0)
      return false;
  return __int128(a[0].constant) + b[0].constant >= -1;
}

Elements Elements::ofAlternatives(std::span<const Conditions> alternatives,
                                  std::span<const int64_t> shape) {
  std::vector<Conditions> possible;
  bool isKnown = true;
  for (const Conditions &conditions : alternatives)
    if (auto simple = canonicalConditions(conditions, shape, isKnown))
      possible.push_back(std::move(*simple));
  if (!isKnown)
    return unknown();
  std::ranges::sort(possible);
  auto repeated = std::ranges::unique(possible);
  possible.erase(repeated.begin(), repeated.end());
  Elements result = ofBoolean(false);
  for (const Conditions &each : possible) {
    bool follows = false;
    for (const Conditions &other : possible) {
      if (coverAll(each, other))
        return ofBoolean(true);
      follows |= &each != &other && implies(each, other);
    }
    if (!follows)
      result.alternatives.push_back(each);
  }
  return result.alternatives.size() > kMaxAlternatives ? unknown() : result;
}

std::optional<bool> Elements::asBoolean() const {
  if (kind != Kind::Boolean)
    return std::nullopt;
  if (alternatives.empty())
    return false;
  return alternatives.front().empty() ? std::optional(true) : std::nullopt;
}

bool Elements::holdsAt(std::span<const int64_t> place) const {
  auto holds = [&](const Affine &condition) {
    __int128 value = condition.constant;
    for (size_t i = 0; i < place.size(); ++i)
      value += __int128(condition.coefficients[i]) * place[i];
    return value >= 0;
  };
  return std::ranges::any_of(alternatives, [&](const Conditions &conditions) {
    return std::ranges::all_of(conditions, holds);
  });
}

Elements Elements::at(std::span<const Affine> replacements,
                      std::span<const int64_t> shape) const {
  if (isInteger())
    return ofInteger(substitute(integer, replacements, shape.size()), shape);
  if (kind == Kind::Magnitude) {
    auto function = substitute(integer, replacements, shape.size());
    return function ? ofMagnitude(*function, shape) : unknown();
  }
  if (!isBoolean())
    return *this;
  std::vector<Conditions> moved = alternatives;
  for (Conditions &conditions : moved)
    for (Affine &condition : conditions) {
      std::optional<Affine> function =
          substitute(condition, replacements, shape.size());
      if (!function)
        return unknown();
      condition = std::move(*function);
    }
  return ofAlternatives(moved, shape);
}

Elements smp::isNotNegative(const Affine &difference,
                            std::span<const int64_t> shape) {
  return Elements::ofAlternatives(std::vector<Conditions>{{difference}}, shape);
}

Elements smp::isZero(const Affine &difference, std::span<const int64_t> shape) {
  std::optional<Affine> negated = scale(difference, -1);
  if (!negated)
    return Elements::unknown();
  return Elements::ofAlternatives(
      std::vector<Conditions>{{difference, *negated}}, shape);
}

Elements smp::conjunction(const Elements &a, const Elements &b,
                          std::span<const int64_t> shape) {
  if (a.asBoolean() == false || b.asBoolean() == false)
    return Elements::ofBoolean(false);
  if (!a.isBoolean() || !b.isBoolean())
    return Elements::unknown();
  std::vector<Conditions> both;
  for (const Conditions &left : a.alternatives)
    for (const Conditions &right : b.alternatives) {
      both.push_back(left);
      both.back().insert(both.back().end(), right.begin(), right.end());
    }
  return Elements::ofAlternatives(both, shape);
}

Elements smp::disjunction(const Elements &a, const Elements &b,
                          std::span<const int64_t> shape) {
  if (a.asBoolean() == true || b.asBoolean() == true)
    return Elements::ofBoolean(true);
  if (!a.isBoolean() || !b.isBoolean())
    return Elements::unknown();
  std::vector<Conditions> either = a.alternatives;
  either.insert(either.end(), b.alternatives.begin(), b.alternatives.end());
  return Elements::ofAlternatives(either, shape);
}

Elements smp::complement(const Elements &a, std::span<const int64_t> shape) {
  if (!a.isBoolean())
    return Elements::unknown();
  Elements result = Elements::ofBoolean(true);
  for (const Conditions &conditions : a.alternatives) {
    std::vector<Conditions> either;
    for (const Affine &condition : conditions) {
      // not (e ≥ 0) is -e - 1 ≥ 0.
      std::optional<Affine> negated = scale(condition, -1);
      if (!negated ||
          __builtin_sub_overflow(negated->constant, 1, &negated->constant))
        return Elements::unknown();
      either.push_back({*negated});
    }
    result =
        conjunction(result, Elements::ofAlternatives(either, shape), shape);
  }
  return result;
}
