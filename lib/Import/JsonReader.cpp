//===- JsonReader.cpp - JSON of unknown shape -----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonReader.h"
#include <cmath>
#include <limits>

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

namespace {

constexpr int kMaxDepth = 64;

/// The deepest nesting of lists and objects, without parsing.
int depthOf(std::string_view text) {
  int depth = 0, deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

const Json kEmptyList = Json::array();
const Json kEmptyObject = Json::object();

/// A value as a message shows it: short.
std::string shown(const Json &value) {
  if (value.is_array())
    return "a list of " + std::to_string(value.size());
  if (value.is_object())
    return "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

} // namespace

Json JsonReader::parse(std::string_view text) {
  if (depthOf(text) > kMaxDepth) {
    fail("expects JSON of at most " + std::to_string(kMaxDepth) +
         " levels, got more");
    return nullptr;
  }
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    fail("expects JSON, got text that is not");
    return nullptr;
  }
  return document;
}

void JsonReader::fail(const std::string &message) {
  if (!failure)
    failure = Error{where + ": " + message,
                    "the archive is damaged or of another version of PyTorch; "
                    "smp reads those of torch 2.15"};
}

void JsonReader::expects(std::string_view what, const Json &got) {
  fail("expects " + std::string(what) + ", got " + shown(got));
}

const Json *JsonReader::find(const Json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

static std::string quoted(const char *key) {
  return "'" + std::string(key) + "'";
}

const Json &JsonReader::listOf(const Json &value, const char *what) {
  if (value.is_array())
    return value;
  expects(quoted(what) + " to be a list", value);
  return kEmptyList;
}

const Json &JsonReader::list(const Json &object, const char *key) {
  const Json *value = find(object, key);
  static const Json none;
  return listOf(value ? *value : none, key);
}

const Json &JsonReader::object(const Json &object, const char *key) {
  const Json *value = find(object, key);
  if (value && value->is_object())
    return *value;
  expects(quoted(key) + " to be an object", value ? *value : Json());
  return kEmptyObject;
}

std::string JsonReader::text(const Json &object, const char *key) {
  const Json *value = find(object, key);
  return textOf(value ? *value : Json(), key);
}

int64_t JsonReader::integer(const Json &object, const char *key) {
  const Json *value = find(object, key);
  return integerOf(value ? *value : Json(), key);
}

bool JsonReader::flag(const Json &object, const char *key, bool fallback) {
  const Json *value = find(object, key);
  if (!value)
    return fallback;
  if (value->is_boolean())
    return value->get<bool>();
  expects(quoted(key) + " to be true or false", *value);
  return fallback;
}

std::string JsonReader::textOf(const Json &value, const char *what) {
  if (value.is_string())
    return value.get<std::string>();
  expects(quoted(what) + " to be a string", value);
  return "";
}

int64_t JsonReader::integerOf(const Json &value, const char *what) {
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  if (value.is_number_integer() &&
      !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(kMax)))
    return value.get<int64_t>();
  expects(quoted(what) + " to be an integer of 64 bits", value);
  return 0;
}

double JsonReader::numberOf(const Json &value, const char *what) {
  if (value.is_number())
    return value.get<double>();
  if (value == "Infinity")
    return std::numeric_limits<double>::infinity();
  if (value == "-Infinity")
    return -std::numeric_limits<double>::infinity();
  if (value == "NaN")
    return std::nan("");
  expects(quoted(what) + " to be a number", value);
  return 0;
}

std::string_view JsonReader::tag(const Json &value, const char *what,
                                 const Json *&inner) {
  inner = &kEmptyObject;
  if (!value.is_object() || value.size() != 1) {
    expects(quoted(what) + " to be a union of one member", value);
    return "";
  }
  inner = &value.begin().value();
  return value.begin().key();
}

std::optional<DataType> JsonReader::scalarType(int64_t number) {
  switch (number) {
  case 4:
    return DataType::I32;
  case 5:
    return DataType::I64;
  case 6:
    return DataType::F16;
  case 7:
    return DataType::F32;
  case 8:
    return DataType::F64;
  case 12:
    return DataType::Bool;
  case 13:
    return DataType::BF16;
  default:
    return std::nullopt;
  }
}
