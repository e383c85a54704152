//===- Coordinates.h - Tensors as functions of coordinates ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Position ids and masks are integer and bool tensors whose elements depend on
// where they are and on nothing else. They are computed here as functions of
// the coordinates x₀, x₁, ... of the tensor:
//
//   an integer tensor is affine:     c + k₀ x₀ + k₁ x₁ + ...
//                or the magnitude    |c + k₀ x₀ + k₁ x₁ + ...| of one, which
//                                    only comparisons understand
//   a bool tensor is a disjunction of conjunctions of inequalities:
//                                    (e₁ ≥ 0 and e₂ ≥ 0 ...) or ..., e affine
//
// Both are kept canonical for the tensor's shape (a coordinate of a dim of
// size 1 is 0; an inequality that always holds, or follows from another, is
// dropped; the coefficients of one have no common divisor), so that equal
// functions mostly compare equal:
//
//   | tensor of shape [4, 4]    | function                  |
//   |---------------------------|---------------------------|
//   | iota 1                    | x₁                        |
//   | compare le iota 1, iota 0 | x₀ - x₁ ≥ 0               |
//   | compare ge iota 1, fill 0 | always                    |
//   | compare ne iota 1, iota 0 | x₀ - x₁ - 1 ≥ 0 or        |
//   |                           | x₁ - x₀ - 1 ≥ 0           |
//
// What is neither, leaves 64 bits or has very many alternatives is unknown.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_COORDINATES_H
#define SMP_LIB_IMPORT_COORDINATES_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smp {

/// c + Σ k_i x_i, one coefficient for each dim of a tensor.
struct Affine {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;

  static Affine number(int64_t value, size_t rank) {
    return {value, std::vector<int64_t>(rank, 0)};
  }
  static Affine coordinate(size_t dim, size_t rank) {
    Affine result = number(0, rank);
    result.coefficients[dim] = 1;
    return result;
  }

  std::optional<int64_t> asConstant() const;
  /// The dim whose coordinate this is, if it is exactly that.
  std::optional<size_t> asCoordinate() const;
  auto operator<=>(const Affine &) const = default;
};

/// None where a number leaves 64 bits.
std::optional<Affine> add(const Affine &a, const Affine &b);
std::optional<Affine> scale(const Affine &a, int64_t factor);
/// `function` with each coordinate replaced by a function of others; `rank` is
/// the number of those.
std::optional<Affine> substitute(const Affine &function,
                                 std::span<const Affine> replacements,
                                 size_t rank);

/// The smallest and largest value over all coordinates of a shape.
struct Range {
  int64_t low, high;
};
std::optional<Range> rangeOf(const Affine &function,
                             std::span<const int64_t> shape);

/// All are ≥ 0; none means always.
using Conditions = std::vector<Affine>;

/// The elements of a tensor as a function of their coordinates.
struct Elements {
  enum class Kind { Unknown, Integer, Magnitude, Boolean };
  Kind kind = Kind::Unknown;
  Affine integer; ///< or what the magnitude is of
  /// One of them holds; none means never.
  std::vector<Conditions> alternatives;

  static Elements unknown() { return {}; }
  static Elements ofInteger(const std::optional<Affine> &function,
                            std::span<const int64_t> shape);
  static Elements ofMagnitude(const Affine &function,
                              std::span<const int64_t> shape);
  static Elements ofAlternatives(std::span<const Conditions> alternatives,
                                 std::span<const int64_t> shape);
  static Elements ofBoolean(bool value);

  bool isInteger() const { return kind == Kind::Integer; }
  bool isBoolean() const { return kind == Kind::Boolean; }
  std::optional<bool> asBoolean() const;
  /// The value of a bool tensor at a place.
  bool holdsAt(std::span<const int64_t> place) const;
  bool operator==(const Elements &) const = default;

  /// The same function seen from other coordinates: those of this tensor are
  /// `replacements`, functions of the coordinates of a tensor of `shape`.
  Elements at(std::span<const Affine> replacements,
              std::span<const int64_t> shape) const;
};

/// Comparisons of integers: difference = a - b.
Elements isZero(const Affine &difference, std::span<const int64_t> shape);
Elements isNotNegative(const Affine &difference,
                       std::span<const int64_t> shape);
Elements conjunction(const Elements &a, const Elements &b,
                     std::span<const int64_t> shape);
Elements disjunction(const Elements &a, const Elements &b,
                     std::span<const int64_t> shape);
Elements complement(const Elements &a, std::span<const int64_t> shape);

} // namespace smp

#endif // SMP_LIB_IMPORT_COORDINATES_H
