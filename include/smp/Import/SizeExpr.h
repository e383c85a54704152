//===- SizeExpr.h - Symbolic sizes of tensors -------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of an exported graph are polynomials in the sizes that may vary,
// mostly the batch. They are kept canonical, so equal sizes compare equal:
//
//   | text                                        | str()      |
//   |---------------------------------------------|------------|
//   | Symbol('s72', positive=True, integer=True)  | s72        |
//   | Mul(Integer(16), Symbol('s72', ...))        | 16*s72     |
//   | 16*s72 + 1                                  | 1 + 16*s72 |
//   | FloorDiv(Mul(Integer(16), Symbol(s72)), 4)  | 4*s72      |
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_SIZEEXPR_H
#define SMP_IMPORT_SIZEEXPR_H

#include "smp/Support/Result.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smp::pt2 {

class SizeExpr {
public:
  /// A product of symbols, sorted; none for the constant term.
  using Monomial = std::vector<std::string>;

  SizeExpr() = default;
  SizeExpr(int64_t value) {
    if (value != 0)
      terms[{}] = value;
  }
  static SizeExpr symbol(std::string name) {
    SizeExpr result;
    result.terms[{std::move(name)}] = 1;
    return result;
  }
  /// Reads sympy text, either as `srepr` or as `str` writes it.
  static Result<SizeExpr> parse(std::string_view text);

  std::optional<int64_t> constant() const;
  /// Sums and products; none when a coefficient leaves 64 bits.
  static std::optional<SizeExpr> add(const SizeExpr &a, const SizeExpr &b);
  static std::optional<SizeExpr> multiply(const SizeExpr &a, const SizeExpr &b);
  /// The quotient when every coefficient is divisible, else none.
  static std::optional<SizeExpr> divide(const SizeExpr &a, int64_t divisor);
  /// `k` when the expression is `k` times `factor`, else none.
  std::optional<int64_t> multipleOf(const SizeExpr &factor) const;

  const std::map<Monomial, int64_t> &getTerms() const { return terms; }
  std::string str() const;
  bool operator==(const SizeExpr &other) const = default;

private:
  std::map<Monomial, int64_t> terms;
};

} // namespace smp::pt2

#endif // SMP_IMPORT_SIZEEXPR_H
