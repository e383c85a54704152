//===- ConfigValues.cpp - Checked values of configuration keys ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigDetail.h"

#include "smp/Support/NearestName.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace smp;
using namespace smp::detail;
using nlohmann::json;

static Error expects(std::string_view key, std::string what, const json &value,
                     std::string note = {}) {
  return Error{"'" + std::string(key) + "' expects " + std::move(what) +
                   ", got " + shortText(value),
               std::move(note)};
}

Result<int64_t> detail::readInteger(std::string_view key, const json &value,
                                    int64_t low, int64_t high) {
  std::string what = "an integer of at least " + std::to_string(low);
  if (high != std::numeric_limits<int64_t>::max())
    what = "an integer in [" + std::to_string(low) + ", " +
           std::to_string(high) + "]";
  // A JSON bool is no integer, nor is 2.0.
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
    return expects(key, what, value);
  auto number = value.get<int64_t>();
  if (number < low || number > high)
    return expects(key, what, value);
  return number;
}

Result<double> detail::readNumber(std::string_view key, const json &value) {
  return readNumber(key, value, -std::numeric_limits<double>::max(),
                    std::numeric_limits<double>::max(), "");
}

Result<double> detail::readNumber(std::string_view key, const json &value,
                                  double low, double high,
                                  std::string_view range) {
  std::string what =
      "a number" + (range.empty() ? "" : " " + std::string(range));
  if (!value.is_number())
    return expects(key, what, value);
  auto number = value.get<double>();
  if (!std::isfinite(number) || number < low || number > high)
    return expects(key, what, value);
  return number;
}

Result<bool> detail::readBool(std::string_view key, const json &value) {
  if (!value.is_boolean())
    return expects(key, "true or false", value);
  return value.get<bool>();
}

Result<std::string> detail::readText(std::string_view key, const json &value) {
  if (!value.is_string() || value.get_ref<const std::string &>().empty())
    return expects(key, "a text", value);
  return value.get<std::string>();
}

Result<size_t> detail::readChoice(std::string_view key, const json &value,
                                  std::span<const std::string_view> names) {
  std::string what;
  for (size_t i = 0; i < names.size(); ++i) {
    if (value.is_string() && value.get_ref<const std::string &>() == names[i])
      return i;
    what += (i == 0                  ? "'"
             : i + 1 == names.size() ? " or '"
                                     : ", '") +
            std::string(names[i]) + "'";
  }
  std::string note;
  if (value.is_string())
    if (auto near = nearestName(value.get_ref<const std::string &>(), names))
      note = "did you mean '" + *near + "'?";
  return expects(key, what, value, note);
}

Status detail::readObject(std::string_view key, const json &value,
                          std::span<const Field> fields) {
  if (!value.is_object())
    return expects(key, "an object", value);
  std::vector<std::string_view> names;
  for (const Field &field : fields)
    names.push_back(field.name);
  for (const auto &[name, entry] : value.items()) {
    auto field = std::ranges::find_if(
        fields, [&](const Field &candidate) { return candidate.name == name; });
    if (field == fields.end()) {
      auto near = nearestName(name, names);
      std::string known;
      for (std::string_view candidate : names)
        known += (known.empty() ? "'" : ", '") + std::string(candidate) + "'";
      return Error{"'" + std::string(key) +
                       "' expects one of its fields, got '" + name + "'",
                   near ? "did you mean '" + *near + "'?"
                        : "its fields are " + known};
    }
    SMP_RETURN_IF_ERROR(field->read(std::string(key) + "." + name, entry));
  }
  return {};
}

Field detail::integerField(std::string_view name, int64_t &target,
                           int64_t low) {
  return {name, [&target, low](std::string_view key, const json &value) {
            auto number = readInteger(key, value, low,
                                      std::numeric_limits<int64_t>::max());
            if (!number)
              return Status(number.error());
            target = *number;
            return Status();
          }};
}

Field detail::numberField(std::string_view name, double &target, double low,
                          double high, std::string_view range) {
  return {name,
          [&target, low, high, range](std::string_view key, const json &value) {
            auto number = readNumber(key, value, low, high, range);
            if (!number)
              return Status(number.error());
            target = *number;
            return Status();
          }};
}

Field detail::boolField(std::string_view name, bool &target) {
  return {name, [&target](std::string_view key, const json &value) {
            auto truth = readBool(key, value);
            if (!truth)
              return Status(truth.error());
            target = *truth;
            return Status();
          }};
}
