//===- Mutator.cpp - Seeded damage to files -------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutator.h"
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace smp::test;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void Mutator::damageOnce(std::string &bytes) {
  if (bytes.empty())
    return;
  size_t at = below(bytes.size());
  size_t length = std::min<size_t>(1 + below(64), bytes.size() - at);
  switch (below(8)) {
  default: // The commonest damage.
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
    return;
  case 1:
    bytes.resize(at);
    return;
  case 2:
    bytes.erase(at, length);
    return;
  case 3:
    bytes.insert(at, bytes.substr(at, length));
    return;
  case 4:
    bytes.replace(at, length, length, below(2) ? '\0' : '\xff');
    return;
  case 5:
    bytes.replace(at, length, bytes.substr(below(bytes.size()), length));
    return;
  }
}

void Mutator::damageBytes(std::string &bytes) {
  for (uint64_t count = 1 + below(4); count; --count)
    damageOnce(bytes);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

json &Mutator::anyPart(json &value) {
  json *at = &value;
  while (at->is_structured() && !at->empty() && below(12)) {
    auto next = at->begin();
    std::advance(next, below(at->size()));
    at = &*next;
  }
  return *at;
}

json Mutator::strangeValue(const json &instead) {
  if (instead.is_number() && below(2)) {
    double number = instead.get<double>();
    const std::array<double, 4> near = {number + 1, number - 1, -number,
                                        number * 1000};
    double chosen = near[below(near.size())];
    return std::abs(chosen) < 1e18 ? static_cast<int64_t>(chosen) : -1;
  }
  if (instead.is_string() && below(2)) {
    std::string text = instead;
    damageOnce(text);
    return text;
  }
  static const std::vector<json> values = {
      nullptr,
      true,
      0,
      1,
      -1,
      7,
      INT64_C(1) << 31,
      INT64_C(1) << 62,
      INT64_MAX,
      INT64_MIN,
      UINT64_MAX,
      0.5,
      1e308,
      -1e-308,
      "",
      "x",
      "../../etc/passwd",
      "Infinity",
      "Symbol('s0', integer=True)",
      "Mul(Integer(9223372036854775807), Symbol('s0', integer=True))",
      std::string(5000, 'a'),
      std::string(3000, '('),
      json::array(),
      json::object(),
      json::array({1, "x", nullptr}),
      {{"as_int", -1}},
      {{"as_int", INT64_MAX}},
      {{"as_none", true}},
      {{"as_tensor", {{"name", "x"}}}},
      {{"as_ints", json::array({0, -1, INT64_MAX})}},
  };
  if (below(20))
    return values[below(values.size())];
  json deep = 1;
  for (int level = 0; level < 120; ++level)
    deep = json::array({std::move(deep)});
  return deep;
}

void Mutator::damageOnce(json &value) {
  json &part = anyPart(value);
  if (!part.is_structured() || part.empty() || below(4) == 0) {
    // One value of the file in the place of another is the subtlest damage.
    json other = below(3) ? strangeValue(part) : anyPart(value);
    part = std::move(other);
    return;
  }
  auto any = [&] {
    auto at = part.begin();
    std::advance(at, below(part.size()));
    return at;
  };
  switch (below(3)) {
  case 0:
    part.erase(any());
    return;
  case 1: {
    json copy = *any();
    if (part.is_array())
      part.push_back(std::move(copy));
    else
      part["more"] = std::move(copy);
    return;
  }
  default:
    std::swap(*any(), *any());
    return;
  }
}

void Mutator::damageJson(json &value) {
  for (uint64_t count = 1 + below(3); count; --count)
    damageOnce(value);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::vector<std::string> wordsOf(const std::string &text) {
  std::vector<std::string> words;
  auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (char c : text) {
    bool joins = !words.empty() && isWord(c) && isWord(words.back().back());
    if (joins)
      words.back() += c;
    else
      words.emplace_back(1, c);
  }
  return words;
}

void Mutator::damageText(std::string &text) {
  static const std::vector<std::string> strange = {"0",
                                                   "-1",
                                                   "1",
                                                   "9223372036854775807",
                                                   "99999999999999999999",
                                                   "1e39",
                                                   "nan",
                                                   "?",
                                                   "4000000000",
                                                   "f64",
                                                   "i1",
                                                   "i64",
                                                   "bf16",
                                                   "index",
                                                   "none",
                                                   "\"\"",
                                                   "[]",
                                                   "true",
                                                   "tensor<0xf32>",
                                                   "tensor<f32>"};
  std::vector<std::string> words = wordsOf(text);
  for (uint64_t count = 1 + below(3); count && !words.empty(); --count) {
    size_t at = below(words.size()), other = below(words.size());
    switch (below(5)) {
    case 0:
      words.erase(words.begin() + static_cast<ptrdiff_t>(at));
      break;
    case 1:
      words.insert(words.begin() + static_cast<ptrdiff_t>(at), words[other]);
      break;
    case 2:
      std::swap(words[at], words[other]);
      break;
    default:
      // A number for a number keeps the text well formed the longest.
      while (at + 1 < words.size() && !std::isdigit(words[at][0]))
        ++at;
      words[at] =
          below(3) ? std::to_string(below(20)) : strange[below(strange.size())];
      break;
    }
  }
  text.clear();
  for (const std::string &word : words)
    text += word;
}
