//===- JsonCursor.h - Checked access to a JSON document ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cursor is one value of a document. Reading something that is not there or
// of another type records an error (the first one counts) and returns an empty
// value, so that the code that reads a document is a straight list; the caller
// asks the document once, at the end. The path of a value is searched for by
// address only when there is something to report.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_JOB_JSONCURSOR_H
#define SMP_RUNTIME_LIB_JOB_JSONCURSOR_H

#include "smp/Support/Result.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace smp::runtime {

class JsonDocument;

class JsonCursor {
public:
  JsonCursor(JsonDocument &document, const nlohmann::json *value)
      : document(&document), value(value) {}

  /// The member `key`; an error when it is missing.
  JsonCursor operator[](const char *key) const;
  /// Whether the member is there and not null.
  bool has(const char *key) const;
  bool isNull() const { return !value || value->is_null(); }
  bool isObject() const { return value && value->is_object(); }
  bool isString() const { return value && value->is_string(); }

  int64_t integer(int64_t low = 0,
                  int64_t high = std::numeric_limits<int64_t>::max()) const;
  unsigned index(size_t size, const char *what) const;
  double number() const;
  bool boolean() const;
  std::string text() const;
  /// The position of the text among `choices`.
  unsigned choice(std::initializer_list<const char *> choices) const;

  size_t size() const;
  /// The elements of an array.
  std::vector<JsonCursor> elements() const;
  /// The members of an object.
  std::vector<std::pair<std::string, JsonCursor>> members() const;
  std::vector<int64_t> integers(int64_t low) const;
  std::vector<std::string> texts() const;

  /// The value as JSON text.
  std::string dump() const { return value ? value->dump() : "null"; }

  /// Records `message` at this value.
  void fail(const std::string &message) const;
  void expects(const std::string &what) const;

private:
  JsonDocument *document;
  const nlohmann::json *value;
};

class JsonDocument {
public:
  /// Reads and parses a file.
  static Result<std::unique_ptr<JsonDocument>> read(const std::string &path);

  JsonCursor root() { return {*this, &content}; }
  /// The first error.
  Status status() const { return failure ? Status(*failure) : Status(); }
  bool failed() const { return failure.has_value(); }

private:
  friend class JsonCursor;
  std::string file;
  nlohmann::json content;
  std::optional<Error> failure;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_JOB_JSONCURSOR_H
