//===- Json.cpp - Reading JSON that others wrote --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Json.h"
#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

using namespace smp;
using nlohmann::json;

static constexpr size_t maxDepth = 100;
static constexpr size_t maxShownBytes = 60;

namespace {
/// Accepts everything; finds where the text stops being JSON, is too deep, or
/// says a thing twice.
class Locator : public nlohmann::json_sax<json> {
public:
  size_t errorByte = 0;
  bool tooDeep = false;
  std::optional<std::string> repeated; ///< key, in one object

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool key(string_t &name) override {
    bool fresh = keys.back().insert(name).second;
    if (!fresh)
      repeated = name;
    return fresh;
  }
  bool start_object(size_t) override { return enter(); }
  bool start_array(size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(size_t position, const std::string &,
                   const json::exception &) override {
    errorByte = position;
    return false;
  }

private:
  bool enter() {
    tooDeep = keys.size() == maxDepth;
    keys.emplace_back();
    return !tooDeep;
  }
  bool leave() {
    keys.pop_back();
    return true;
  }
  /// Of each object (and array) that is open.
  std::vector<std::unordered_set<std::string>> keys;
};
} // namespace

Result<json> smp::parseJson(std::string_view text, std::string_view what) {
  Locator locator;
  if (json::sax_parse(text, &locator))
    return json::parse(text, nullptr, false);
  if (locator.tooDeep)
    return Error{std::string(what) + " expects JSON nested at most " +
                 std::to_string(maxDepth) + " levels deep, got more"};
  if (locator.repeated)
    return Error{std::string(what) +
                 " expects each key of an object once, "
                 "got '" +
                 *locator.repeated + "' twice"};
  std::string_view before =
      text.substr(0, locator.errorByte ? locator.errorByte - 1 : 0);
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t lineStart = before.rfind('\n');
  size_t column = before.size() -
                  (lineStart == std::string_view::npos ? 0 : lineStart + 1) + 1;
  return Error{std::string(what) +
               " expects JSON, got something else at line " +
               std::to_string(line) + ", column " + std::to_string(column)};
}

std::string smp::shortText(const json &value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > maxShownBytes) {
    size_t end = maxShownBytes;
    // Not in the middle of a UTF-8 sequence.
    while (end && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    text = text.substr(0, end) + "...";
  }
  return text;
}
