//===- Coordinates.cpp - Tensors as functions of coordinates --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include <algorithm>
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

Elements Elements::ofBoolean(bool value) {
  Elements result;
  result.kind = Kind::Boolean;
  result.never = !value;
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

Elements Elements::ofConditions(std::vector<Affine> conditions,
                                std::span<const int64_t> shape) {
  Elements result = ofBoolean(true);
  for (Affine &condition : conditions) {
    Affine simple = reduced(canonical(std::move(condition), shape));
    std::optional<Range> range = rangeOf(simple, shape);
    if (!range)
      return unknown();
    if (range->high < 0)
      return ofBoolean(false);
    if (range->low < 0)
      result.conditions.push_back(std::move(simple));
  }
  std::sort(result.conditions.begin(), result.conditions.end());
  result.conditions.erase(
      std::unique(result.conditions.begin(), result.conditions.end()),
      result.conditions.end());
  return result;
}

std::optional<bool> Elements::asBoolean() const {
  if (kind != Kind::Boolean || (!never && !conditions.empty()))
    return std::nullopt;
  return !never;
}

Elements Elements::at(std::span<const Affine> replacements,
                      std::span<const int64_t> shape) const {
  if (isInteger())
    return ofInteger(substitute(integer, replacements, shape.size()), shape);
  if (!isBoolean() || never)
    return *this;
  std::vector<Affine> moved;
  for (const Affine &condition : conditions) {
    std::optional<Affine> function =
        substitute(condition, replacements, shape.size());
    if (!function)
      return unknown();
    moved.push_back(std::move(*function));
  }
  return ofConditions(std::move(moved), shape);
}

Elements smp::isNotNegative(const Affine &difference,
                            std::span<const int64_t> shape) {
  return Elements::ofConditions({difference}, shape);
}

Elements smp::isZero(const Affine &difference, std::span<const int64_t> shape) {
  std::optional<Affine> negated = scale(difference, -1);
  if (!negated)
    return Elements::unknown();
  return Elements::ofConditions({difference, *negated}, shape);
}

Elements smp::conjunction(const Elements &a, const Elements &b,
                          std::span<const int64_t> shape) {
  if (a.asBoolean() == false || b.asBoolean() == false)
    return Elements::ofBoolean(false);
  if (!a.isBoolean() || !b.isBoolean())
    return Elements::unknown();
  std::vector<Affine> both = a.conditions;
  both.insert(both.end(), b.conditions.begin(), b.conditions.end());
  return Elements::ofConditions(std::move(both), shape);
}

Elements smp::complement(const Elements &a, std::span<const int64_t> shape) {
  if (std::optional<bool> value = a.asBoolean())
    return Elements::ofBoolean(!*value);
  if (!a.isBoolean() || a.conditions.size() != 1)
    return Elements::unknown();
  // not (e ≥ 0) is -e - 1 ≥ 0.
  std::optional<Affine> negated = scale(a.conditions.front(), -1);
  if (!negated ||
      __builtin_sub_overflow(negated->constant, 1, &negated->constant))
    return Elements::unknown();
  return Elements::ofConditions({*negated}, shape);
}
