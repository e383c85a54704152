//===- JsonReader.h - JSON of unknown shape ---------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads JSON that may have any shape. The first thing that is not as expected
// is remembered with its path; from then on everything reads as empty, so the
// caller checks once, at the end.
//
//   reader.list(root, "nodes") ─► [] and "expects 'nodes' to be a list, got 3"
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_JSONREADER_H
#define SMP_LIB_IMPORT_JSONREADER_H

#include "smp/Support/DataType.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace smp::pt2 {

class JsonReader {
public:
  using Json = nlohmann::json;

  /// `where` begins each message, as in "'m.pt2': models/model.json".
  explicit JsonReader(std::string where) : where(std::move(where)) {}

  /// The document, or null. Documents nested deeper than any export are
  /// refused before they are parsed.
  Json parse(std::string_view text);

  /// Members of an object. Absent and null are the same.
  const Json *find(const Json &object, const char *key);
  const Json &list(const Json &object, const char *key);
  const Json &object(const Json &object, const char *key);
  std::string text(const Json &object, const char *key);
  int64_t integer(const Json &object, const char *key);
  bool flag(const Json &object, const char *key, bool fallback);

  /// Values themselves; `what` names them in the message.
  const Json &listOf(const Json &value, const char *what);
  std::string textOf(const Json &value, const char *what);
  int64_t integerOf(const Json &value, const char *what);
  /// A number, also one of the strings "Infinity", "-Infinity" and "NaN".
  double numberOf(const Json &value, const char *what);

  /// A union of one member, {"as_int": 3}: its tag; the value is in `value`.
  std::string_view tag(const Json &value, const char *what, const Json *&inner);

  /// The element type of a number of the schema; none if smp has none.
  static std::optional<DataType> scalarType(int64_t number);

  void expects(std::string_view what, const Json &got);
  void fail(const std::string &message);
  const std::optional<Error> &error() const { return failure; }

private:
  std::string where;
  std::optional<Error> failure;
};

} // namespace smp::pt2

#endif // SMP_LIB_IMPORT_JSONREADER_H
