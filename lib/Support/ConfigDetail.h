//===- ConfigDetail.h - How configuration keys are read and written *- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the configuration: a key is a reader and a writer over `Config`,
// bound to a JSON name. The table of keys is the only place that knows them
// all.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_SUPPORT_CONFIGDETAIL_H
#define SMP_LIB_SUPPORT_CONFIGDETAIL_H

#include "smp/Support/Config.h"
#include "smp/Support/Json.h"
#include <functional>

namespace smp::detail {

/// In one step: a schedule lists each of them, on every stage.
inline constexpr int64_t mostMicrobatches = 1 << 14;

struct KeyBinding {
  ConfigKey help;
  /// Takes a value of the JSON object; the error names the key.
  std::function<Status(Config &, const nlohmann::json &)> read;
  /// The effective value; null leaves the key out.
  std::function<nlohmann::json(const Config &)> write;
  /// A flag's value is this text as it stands, never JSON.
  bool isText = false;
};

std::span<const KeyBinding> keyBindings();
const KeyBinding *findKey(std::string_view name);
/// The canonical name of an alias, or `name` itself.
std::string_view resolveAlias(std::string_view name);

/// A key that is accepted without effect, or refused, with the reason.
struct OldKey {
  std::string_view name, reason;
  bool refused;
};
const OldKey *findOldKey(std::string_view name);

bool isRegularExpression(const std::string &text);

// Values. Each error names `key`, what is expected, and the value.
Result<int64_t> readInteger(std::string_view key, const nlohmann::json &value,
                            int64_t low, int64_t high);
Result<double> readNumber(std::string_view key, const nlohmann::json &value);
Result<double> readNumber(std::string_view key, const nlohmann::json &value,
                          double low, double high, std::string_view range);
Result<bool> readBool(std::string_view key, const nlohmann::json &value);
Result<std::string> readText(std::string_view key, const nlohmann::json &value);
/// The index of the value in `names`.
Result<size_t> readChoice(std::string_view key, const nlohmann::json &value,
                          std::span<const std::string_view> names);

/// A field of an object-valued key.
struct Field {
  std::string_view name;
  std::function<Status(std::string_view key, const nlohmann::json &)> read;
};
/// Reads an object with exactly these fields, all optional.
Status readObject(std::string_view key, const nlohmann::json &value,
                  std::span<const Field> fields);

/// Fields that read one value into `target`.
Field integerField(std::string_view name, int64_t &target, int64_t low);
Field numberField(std::string_view name, double &target, double low,
                  double high, std::string_view range);
Field boolField(std::string_view name, bool &target);

// Object-valued keys.
Status readOptimizer(Config &config, const nlohmann::json &value);
nlohmann::json writeOptimizer(const Config &config);
Status readRates(Config &config, const nlohmann::json &value);
nlohmann::json writeRates(const Config &config);
Status readLossScale(Config &config, const nlohmann::json &value);
nlohmann::json writeLossScale(const Config &config);
Status readAssignment(Config &config, const nlohmann::json &value);
Status readTensorParallelism(Config &config, const nlohmann::json &value);
nlohmann::json writeTensorParallelism(const Config &config);
Status readCheckpointing(Config &config, const nlohmann::json &value);
Status readMemoryLimit(Config &config, const nlohmann::json &value);

/// What no single key can tell.
Status checkCombinations(const Config &config);

} // namespace smp::detail

#endif // SMP_LIB_SUPPORT_CONFIGDETAIL_H
