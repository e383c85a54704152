//===- JsonCursor.cpp - Checked access to a JSON document -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonCursor.h"

#include "smp/Support/MappedFile.h"

using namespace smp;
using namespace smp::runtime;
using nlohmann::json;

/// Extends `path` until it leads from `from` to `target`. Deeper than any job
/// goes it gives up: the document may be hostile.
static bool findPath(const json &from, const json *target, std::string &path,
                     int depth = 0) {
  if (&from == target)
    return true;
  if (depth > 32)
    return false;
  size_t length = path.size();
  if (from.is_object()) {
    for (auto it = from.begin(); it != from.end(); ++it) {
      path += (path.empty() ? "" : ".") + it.key();
      if (findPath(it.value(), target, path, depth + 1))
        return true;
      path.resize(length);
    }
  } else if (from.is_array()) {
    for (size_t i = 0; i < from.size(); ++i) {
      path += "[" + std::to_string(i) + "]";
      if (findPath(from[i], target, path, depth + 1))
        return true;
      path.resize(length);
    }
  }
  return false;
}

/// The value as a message shows it: short.
static std::string show(const json &value) {
  if (value.is_object() || value.is_array())
    return std::string("an ") + value.type_name();
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

void JsonCursor::fail(const std::string &message) const {
  if (!value || document->failure)
    return;
  std::string path;
  findPath(document->content, value, path);
  document->failure =
      Error{"'" + document->file + "': " +
            (path.empty() ? std::string() : "at '" + path + "': ") + message};
}

void JsonCursor::expects(const std::string &what) const {
  if (value)
    fail("expects " + what + ", got " + show(*value));
}

JsonCursor JsonCursor::operator[](const char *key) const {
  if (!value || !value->is_object()) {
    expects("an object");
    return {*document, nullptr};
  }
  auto it = value->find(key);
  if (it == value->end()) {
    fail("expects a member '" + std::string(key) + "', got none");
    return {*document, nullptr};
  }
  return {*document, &*it};
}

bool JsonCursor::has(const char *key) const {
  if (!value || !value->is_object())
    return false;
  auto it = value->find(key);
  return it != value->end() && !it->is_null();
}

int64_t JsonCursor::integer(int64_t low, int64_t high) const {
  if (!value)
    return low;
  bool fits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() &&
        value->get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()));
  if (fits) {
    int64_t number = value->get<int64_t>();
    if (number >= low && number <= high)
      return number;
  }
  if (high == std::numeric_limits<int64_t>::max())
    expects("an integer of at least " + std::to_string(low));
  else
    expects("an integer from " + std::to_string(low) + " to " +
            std::to_string(high));
  return low;
}

unsigned JsonCursor::index(size_t size, const char *what) const {
  if (!value)
    return 0;
  if (value->is_number_unsigned() && value->get<uint64_t>() < size)
    return unsigned(value->get<uint64_t>());
  expects(std::string("the index of ") + what + " (there are " +
          std::to_string(size) + ")");
  return 0;
}

double JsonCursor::number() const {
  if (value && value->is_number())
    return value->get<double>();
  expects("a number");
  return 0;
}

bool JsonCursor::boolean() const {
  if (value && value->is_boolean())
    return value->get<bool>();
  expects("a boolean");
  return false;
}

std::string JsonCursor::text() const {
  if (value && value->is_string())
    return *value->get_ptr<const std::string *>();
  expects("a string");
  return {};
}

unsigned JsonCursor::choice(std::initializer_list<const char *> choices) const {
  std::string all;
  unsigned position = 0;
  for (const char *each : choices) {
    if (value && value->is_string() &&
        *value->get_ptr<const std::string *>() == each)
      return position;
    all += (position++ ? ", '" : "'") + std::string(each) + "'";
  }
  expects("one of " + all);
  return 0;
}

size_t JsonCursor::size() const {
  if (value && value->is_array())
    return value->size();
  expects("an array");
  return 0;
}

std::vector<JsonCursor> JsonCursor::elements() const {
  std::vector<JsonCursor> result;
  result.reserve(size());
  if (value && value->is_array())
    for (const json &each : *value)
      result.emplace_back(*document, &each);
  return result;
}

std::vector<std::pair<std::string, JsonCursor>> JsonCursor::members() const {
  std::vector<std::pair<std::string, JsonCursor>> result;
  if (value && value->is_object())
    for (auto it = value->begin(); it != value->end(); ++it)
      result.emplace_back(it.key(), JsonCursor(*document, &*it));
  else
    expects("an object");
  return result;
}

std::vector<int64_t> JsonCursor::integers(int64_t low) const {
  std::vector<int64_t> result;
  for (const JsonCursor &each : elements())
    result.push_back(each.integer(low));
  return result;
}

std::vector<std::string> JsonCursor::texts() const {
  std::vector<std::string> result;
  for (const JsonCursor &each : elements())
    result.push_back(each.text());
  return result;
}

Result<std::unique_ptr<JsonDocument>>
JsonDocument::read(const std::string &path) {
  SMP_ASSIGN_OR_RETURN(std::string text, readFile(path));
  auto document = std::make_unique<JsonDocument>();
  document->file = path;
  document->content = json::parse(text, nullptr, false);
  if (document->content.is_discarded())
    return Error{"'" + path + "': expects a JSON document, got " +
                     (text.empty() ? "an empty file" : "malformed text"),
                 "the job folder is damaged: compile the job again"};
  return document;
}
