//===- Config.cpp - The configuration of a training job -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Config.h"

#include "ConfigDetail.h"
#include "smp/Support/NearestName.h"
#include <algorithm>

using namespace smp;
using namespace smp::detail;
using nlohmann::json;

static Error unknownKey(std::string_view key) {
  std::vector<std::string_view> names = {"partitions",
                                         "backward_passes_per_step"};
  for (const ConfigKey &known : configKeys())
    names.push_back(known.name);
  auto near = nearestName(key, names);
  return Error{
      "expects a known configuration key, got '" + std::string(key) + "'",
      near ? "did you mean '" + *near + "'?" : "--help lists all keys"};
}

/// Enters `object` into `values`, which then has canonical names only.
static Status addObject(const json &object, json &values) {
  for (const auto &[key, value] : object.items()) {
    std::string canonical(resolveAlias(key));
    if (key != canonical && object.contains(canonical))
      return Error{"expects '" + canonical + "' or its alias '" + key +
                   "', got both"};
    values[canonical] = value;
  }
  return {};
}

namespace {
/// "--optimizer.lr=1e-3" in parts.
struct Flag {
  std::string key;   ///< canonical
  std::string field; ///< after the first dot; empty: the whole value
  std::string value;
  bool hasValue = false;
};
} // namespace

static std::string underscored(std::string_view text) {
  std::string result(text);
  std::ranges::replace(result, '-', '_');
  return result;
}

static std::optional<Flag> splitFlag(std::string_view argument) {
  if (!argument.starts_with("--") || argument.size() == 2)
    return std::nullopt;
  argument.remove_prefix(2);
  Flag flag;
  size_t equals = argument.find('=');
  if (equals != std::string_view::npos) {
    flag.hasValue = true;
    flag.value = argument.substr(equals + 1);
    argument = argument.substr(0, equals);
  }
  size_t dot = argument.find('.');
  flag.key = resolveAlias(underscored(argument.substr(0, dot)));
  if (dot != std::string_view::npos)
    flag.field = argument.substr(dot + 1);
  return flag;
}

bool smp::isConfigFlag(std::string_view argument) {
  auto flag = splitFlag(argument);
  return flag && (findKey(flag->key) || findOldKey(flag->key));
}

/// Keys of module paths keep the path as written.
static bool hasFixedFields(std::string_view key) {
  return key == "optimizer" || key == "lr_schedule" || key == "loss_scale";
}

static Status addFlag(std::string_view argument, json &values) {
  auto flag = splitFlag(argument);
  if (!flag)
    return Error{"expects a flag such as '--microbatches=4', got '" +
                 std::string(argument) + "'"};
  const KeyBinding *binding = findKey(flag->key);
  if (!binding && !findOldKey(flag->key))
    return unknownKey(flag->key);
  json value = true;
  if (flag->hasValue) {
    Result<json> parsed = parseJson(flag->value, argument);
    bool isText = binding && binding->isText && flag->field.empty();
    value = parsed && !isText ? *parsed : json(flag->value);
  }
  if (flag->field.empty()) {
    values[flag->key] = std::move(value);
    return {};
  }
  json &object = values[flag->key];
  if (hasFixedFields(flag->key)) {
    flag->field = underscored(flag->field);
    if (object.is_string()) // the short form
      object = {{"name", object}};
  }
  if (object.is_null())
    object = json::object();
  if (!object.is_object())
    return Error{"'--" + flag->key + "." + flag->field + "' expects '" +
                 flag->key + "' to be an object, got " + shortText(object)};
  object[flag->field] = std::move(value);
  return {};
}

/// Settings that nothing reads as the others stand.
static void noteUnused(const json &values, ParsedConfig &parsed) {
  auto note = [&](std::string_view key, std::string_view without) {
    parsed.notes.push_back("'" + std::string(key) + "' has no effect without " +
                           std::string(without));
  };
  const Config &config = parsed.config;
  for (const auto &[key, value] : values.items()) {
    if (key.starts_with("sdp_") && config.shardedDataParallelDegree == 1)
      note(key, "'sharded_data_parallel_degree' above 1");
    if (key == "activation_loading_horizon" && !config.offloadActivations)
      note(key, "'offload_activations'");
    if (key == "partition_file" && !config.loadPartition)
      note(key, "'load_partition'");
    if ((key == "ddp" || key == "horovod") && value == true)
      parsed.notes.push_back("'" + key +
                             "' has no effect: data parallelism needs no "
                             "switch");
  }
}

Result<ParsedConfig> smp::parseConfig(std::string_view text,
                                      std::span<const std::string> flags) {
  json values = json::object();
  if (!text.empty()) {
    SMP_ASSIGN_OR_RETURN(json object, parseJson(text, "the configuration"));
    if (!object.is_object())
      return Error{"the configuration expects an object, got " +
                   shortText(object)};
    SMP_RETURN_IF_ERROR(addObject(object, values));
  }
  for (const std::string &flag : flags)
    SMP_RETURN_IF_ERROR(addFlag(flag, values));
  ParsedConfig parsed;
  for (const auto &[key, value] : values.items()) {
    if (const KeyBinding *binding = findKey(key)) {
      SMP_RETURN_IF_ERROR(binding->read(parsed.config, value));
      continue;
    }
    const OldKey *old = findOldKey(key);
    if (!old)
      return unknownKey(key);
    if (old->refused)
      return Error{"expects no key '" + key + "', got " + shortText(value),
                   std::string(old->reason)};
    parsed.notes.push_back("'" + key +
                           "' has no effect: " + std::string(old->reason));
  }
  noteUnused(values, parsed);
  SMP_RETURN_IF_ERROR(checkCombinations(parsed.config));
  return parsed;
}

json smp::toJson(const Config &config) {
  json values = json::object();
  for (const KeyBinding &key : keyBindings())
    if (json value = key.write(config); !value.is_null())
      values[std::string(key.help.name)] = std::move(value);
  return values;
}
