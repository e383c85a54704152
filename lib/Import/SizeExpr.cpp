//===- SizeExpr.cpp - Symbolic sizes of tensors ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/SizeExpr.h"
#include <algorithm>
#include <cctype>
#include <charconv>

using namespace smp;
using namespace smp::pt2;

std::optional<int64_t> SizeExpr::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::optional<SizeExpr> SizeExpr::add(const SizeExpr &a, const SizeExpr &b) {
  SizeExpr result = a;
  for (const auto &[monomial, coefficient] : b.terms) {
    int64_t &sum = result.terms[monomial];
    if (__builtin_add_overflow(sum, coefficient, &sum))
      return std::nullopt;
    if (sum == 0)
      result.terms.erase(monomial);
  }
  return result;
}

std::optional<SizeExpr> SizeExpr::multiply(const SizeExpr &a,
                                           const SizeExpr &b) {
  std::optional<SizeExpr> result = SizeExpr();
  for (const auto &[left, leftCoefficient] : a.terms)
    for (const auto &[right, rightCoefficient] : b.terms) {
      SizeExpr term;
      Monomial monomial = left;
      monomial.insert(monomial.end(), right.begin(), right.end());
      std::ranges::sort(monomial);
      int64_t &product = term.terms[monomial];
      if (monomial.size() > 8 ||
          __builtin_mul_overflow(leftCoefficient, rightCoefficient, &product))
        return std::nullopt;
      result = add(*result, term);
      if (!result)
        return std::nullopt;
    }
  return result;
}

std::optional<SizeExpr> SizeExpr::divide(const SizeExpr &a, int64_t divisor) {
  if (divisor <= 0)
    return std::nullopt;
  SizeExpr result = a;
  for (auto &[monomial, coefficient] : result.terms) {
    if (coefficient % divisor != 0)
      return std::nullopt;
    coefficient /= divisor;
  }
  return result;
}

std::optional<int64_t> SizeExpr::multipleOf(const SizeExpr &factor) const {
  if (terms.empty() || factor.terms.empty())
    return std::nullopt;
  int64_t base = factor.terms.begin()->second;
  auto found = terms.find(factor.terms.begin()->first);
  if (found == terms.end() || base == 0 || found->second % base != 0)
    return std::nullopt;
  int64_t multiple = found->second / base;
  std::optional<SizeExpr> product = multiply(factor, multiple);
  return product && *product == *this ? std::optional(multiple) : std::nullopt;
}

std::string SizeExpr::str() const {
  std::string text;
  for (const auto &[monomial, coefficient] : terms) {
    std::string term;
    if (coefficient != 1 || monomial.empty())
      term = std::to_string(coefficient);
    for (const std::string &symbol : monomial)
      term += (term.empty() ? "" : "*") + symbol;
    text += (text.empty() ? "" : " + ") + term;
  }
  return text.empty() ? "0" : text;
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

namespace {

/// expression := product (('+' | '-') product)*
/// product    := factor (('*' | '//') factor)*
/// factor     := number | '-' factor | '(' expression ')' | name [arguments]
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::optional<SizeExpr> parse() {
    std::optional<SizeExpr> result = expression();
    skipSpace();
    return at == text.size() ? result : std::nullopt;
  }

private:
  using Expr = std::optional<SizeExpr>;
  static constexpr int kMaxDepth = 64;

  void skipSpace() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }

  bool take(std::string_view token) {
    skipSpace();
    if (text.substr(at, token.size()) != token)
      return false;
    at += token.size();
    return true;
  }

  Expr expression() {
    if (++depth > kMaxDepth)
      return std::nullopt;
    Expr sum = product();
    while (sum) {
      bool minus = false;
      if (!take("+") && !(minus = take("-")))
        break;
      Expr next = product();
      if (next && minus)
        next = SizeExpr::multiply(*next, -1);
      sum = next ? SizeExpr::add(*sum, *next) : std::nullopt;
    }
    --depth;
    return sum;
  }

  Expr product() {
    Expr result = factor();
    while (result) {
      bool quotient = take("//");
      if (!quotient && !take("*"))
        break;
      result = quotient ? floorDiv(result, factor()) : times(result, factor());
    }
    return result;
  }

  Expr factor() {
    skipSpace();
    if (++depth > kMaxDepth || at == text.size())
      return std::nullopt;
    Expr result;
    if (take("-")) {
      Expr operand = factor();
      result = operand ? SizeExpr::multiply(*operand, -1) : std::nullopt;
    } else if (take("(")) {
      result = expression();
      if (!take(")"))
        return std::nullopt;
    } else if (std::isdigit(static_cast<unsigned char>(text[at]))) {
      result = integer();
    } else {
      result = named();
    }
    --depth;
    return result;
  }

  Expr integer() {
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc())
      return std::nullopt;
    at = end - text.data();
    return SizeExpr(value);
  }

  std::string_view name() {
    skipSpace();
    size_t begin = at;
    while (
        at < text.size() &&
        (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    return text.substr(begin, at - begin);
  }

  Expr named() {
    std::string_view word = name();
    if (word.empty())
      return std::nullopt;
    if (!take("("))
      return SizeExpr::symbol(std::string(word));
    if (word == "Symbol")
      return symbol();
    std::vector<Expr> operands;
    do
      operands.push_back(expression());
    while (take(","));
    if (!take(")"))
      return std::nullopt;
    return apply(word, operands);
  }

  /// Symbol('s72', positive=True, integer=True), after the parenthesis.
  Expr symbol() {
    if (!take("'"))
      return std::nullopt;
    std::string_view symbolName = name();
    if (symbolName.empty() || !take("'"))
      return std::nullopt;
    while (take(",")) {
      name();
      if (!take("="))
        return std::nullopt;
      name();
    }
    return take(")") ? Expr(SizeExpr::symbol(std::string(symbolName)))
                     : std::nullopt;
  }

  static Expr times(const Expr &a, const Expr &b) {
    return a && b ? SizeExpr::multiply(*a, *b) : std::nullopt;
  }

  static Expr floorDiv(const Expr &a, const Expr &b) {
    if (!a || !b || !b->constant())
      return std::nullopt;
    return SizeExpr::divide(*a, *b->constant());
  }

  static Expr apply(std::string_view function, std::vector<Expr> &operands) {
    Expr result = operands.front();
    if (function == "FloorDiv" || function == "CleanDiv")
      return operands.size() == 2 ? floorDiv(result, operands[1])
                                  : std::nullopt;
    bool sum = function == "Add";
    if (function == "Integer" && operands.size() == 1)
      return result;
    if (!sum && function != "Mul")
      return std::nullopt;
    for (size_t i = 1; i < operands.size() && result; ++i)
      result = !operands[i] ? std::nullopt
               : sum        ? SizeExpr::add(*result, *operands[i])
                            : SizeExpr::multiply(*result, *operands[i]);
    return result;
  }

  std::string_view text;
  size_t at = 0;
  int depth = 0;
};

} // namespace

Result<SizeExpr> SizeExpr::parse(std::string_view text) {
  std::optional<SizeExpr> result = Parser(text).parse();
  if (!result)
    return Error{"expects a size as sums and products of symbols, got '" +
                 std::string(text.substr(0, 80)) + "'"};
  return *result;
}
