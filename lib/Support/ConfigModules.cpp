//===- ConfigModules.cpp - Configuration keys by module path --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigDetail.h"
#include <charconv>
#include <cmath>
#include <limits>

using namespace smp;
using namespace smp::detail;
using nlohmann::json;

static Error expectsModules(std::string_view key, const char *values,
                            const json &value) {
  return Error{"'" + std::string(key) +
               "' expects an object of module paths and " + values + ", got " +
               shortText(value)};
}

Status detail::readAssignment(Config &config, const json &value) {
  if (!value.is_object())
    return expectsModules("assignment", "partitions", value);
  std::map<std::string, int64_t> assignment;
  for (const auto &[path, entry] : value.items()) {
    SMP_ASSIGN_OR_RETURN(assignment[path],
                         readInteger("assignment." + path, entry, 0,
                                     std::numeric_limits<int64_t>::max()));
  }
  config.assignment = std::move(assignment);
  return {};
}

Status detail::readTensorParallelism(Config &config, const json &value) {
  if (!value.is_object())
    return expectsModules("tensor_parallelism", "true, false or a layout",
                          value);
  std::map<std::string, ModuleChoice> choices;
  for (const auto &[path, entry] : value.items()) {
    if (entry.is_boolean())
      choices[path] = entry.get<bool>();
    else if (entry.is_string())
      choices[path] = entry.get<std::string>();
    else
      return Error{"'tensor_parallelism." + path +
                   "' expects true, false or a layout, got " +
                   shortText(entry)};
  }
  config.tensorParallelism = std::move(choices);
  return {};
}

json detail::writeTensorParallelism(const Config &config) {
  json value = json::object();
  for (const auto &[path, choice] : config.tensorParallelism) {
    if (const bool *truth = std::get_if<bool>(&choice))
      value[path] = *truth;
    else
      value[path] = *std::get_if<std::string>(&choice);
  }
  return value;
}

/// none, each, contiguous or group_N with N of at least 1.
static bool isCheckpointing(std::string_view text) {
  if (text == "none" || text == "each" || text == "contiguous")
    return true;
  if (!text.starts_with("group_"))
    return false;
  text.remove_prefix(6);
  int64_t size = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), size);
  return code == std::errc() && end == text.data() + text.size() && size > 0;
}

Status detail::readCheckpointing(Config &config, const json &value) {
  std::map<std::string, std::string> modes;
  const json object = value.is_string() ? json{{"", value}} : value;
  if (!object.is_object())
    return Error{"'activation_checkpointing' expects 'none', 'each', "
                 "'contiguous', 'group_N' or an object of them by module path, "
                 "got " +
                 shortText(value)};
  for (const auto &[path, entry] : object.items()) {
    if (!entry.is_string() ||
        !isCheckpointing(entry.get_ref<const std::string &>()))
      return Error{"'activation_checkpointing" +
                   (path.empty() ? "" : "." + path) +
                   "' expects 'none', 'each', 'contiguous' or 'group_N', got " +
                   shortText(entry)};
    if (entry != "none" || !path.empty())
      modes[path] = entry.get<std::string>();
  }
  config.activationCheckpointing = std::move(modes);
  return {};
}

Status detail::readMemoryLimit(Config &config, const json &value) {
  auto wrong = [&] {
    return Error{
        "'memory_limit' expects bytes, or a text such as '16GiB', got " +
        shortText(value)};
  };
  if (value.is_number()) {
    SMP_ASSIGN_OR_RETURN(config.memoryLimit,
                         readInteger("memory_limit", value, 1,
                                     std::numeric_limits<int64_t>::max()));
    return {};
  }
  if (!value.is_string())
    return wrong();
  std::string_view text = value.get_ref<const std::string &>();
  double amount = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), amount);
  std::string_view unit(end, text.data() + text.size() - end);
  if (unit.starts_with(' '))
    unit.remove_prefix(1);
  constexpr std::pair<std::string_view, double> units[] = {
      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},
      {"GB", 1e9},     {"TB", 1e12},    {"KiB", 0x1p10},
      {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (auto [name, factor] : units)
    if (code == std::errc() && unit == name) {
      double bytes = amount * factor;
      if (!(bytes >= 1 && bytes < 0x1p62))
        return wrong();
      config.memoryLimit = static_cast<int64_t>(bytes);
      return {};
    }
  return wrong();
}
