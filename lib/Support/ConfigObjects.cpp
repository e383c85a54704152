//===- ConfigObjects.cpp - Configuration keys whose values are objects ----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigDetail.h"
#include <array>
#include <cmath>
#include <limits>

using namespace smp;
using namespace smp::detail;
using nlohmann::json;

static constexpr double maxDouble = std::numeric_limits<double>::max();
static constexpr double tiny = std::numeric_limits<double>::min();
static constexpr std::array<std::string_view, 3> optimizerNames = {
    "adamw", "adam", "sgd"};
static constexpr std::array<std::string_view, 3> rateNames = {
    "constant", "linear", "cosine"};

std::string_view smp::name(OptimizerKind value) {
  return optimizerNames[static_cast<size_t>(value)];
}
std::string_view smp::name(RateSchedule value) {
  return rateNames[static_cast<size_t>(value)];
}

static Status readBetas(OptimizerConfig &optimizer, std::string_view key,
                        const json &value) {
  if (!value.is_array() || value.size() != 2)
    return Error{"'" + std::string(key) +
                 "' expects two numbers in [0, 1), got " + shortText(value)};
  double below1 = std::nextafter(1.0, 0.0);
  SMP_ASSIGN_OR_RETURN(optimizer.beta1,
                       readNumber(key, value[0], 0, below1, "in [0, 1)"));
  SMP_ASSIGN_OR_RETURN(optimizer.beta2,
                       readNumber(key, value[1], 0, below1, "in [0, 1)"));
  return {};
}

static Status readGroups(OptimizerConfig &optimizer, std::string_view key,
                         const json &value) {
  if (!value.is_array())
    return Error{"'" + std::string(key) + "' expects a list of objects, got " +
                 shortText(value)};
  optimizer.groups.clear();
  for (size_t i = 0; i < value.size(); ++i) {
    OptimizerGroup group;
    double decay = -1, scale = -1;
    std::array<Field, 4> fields = {
        Field{"match",
              [&](std::string_view field, const json &text) -> Status {
                SMP_ASSIGN_OR_RETURN(group.match, readText(field, text));
                if (!isRegularExpression(group.match))
                  return Error{"'" + std::string(field) +
                               "' expects a regular expression, got " +
                               shortText(text)};
                return {};
              }},
        numberField("weight_decay", decay, 0, maxDouble, "of at least 0"),
        numberField("lr_scale", scale, 0, maxDouble, "of at least 0"),
        boolField("frozen", group.frozen)};
    std::string place = std::string(key) + "[" + std::to_string(i) + "]";
    SMP_RETURN_IF_ERROR(readObject(place, value[i], fields));
    if (group.match.empty())
      return Error{"'" + place + "' expects a field 'match', got none"};
    if (decay >= 0)
      group.weightDecay = decay;
    if (scale >= 0)
      group.lrScale = scale;
    optimizer.groups.push_back(std::move(group));
  }
  return {};
}

Status detail::readOptimizer(Config &config, const json &value) {
  OptimizerConfig optimizer;
  std::string_view key = "optimizer";
  const json object = value.is_string() ? json{{"name", value}} : value;
  if (auto kind = object.find("name");
      object.is_object() && kind != object.end()) {
    SMP_ASSIGN_OR_RETURN(size_t index,
                         readChoice("optimizer.name", *kind, optimizerNames));
    optimizer.kind = static_cast<OptimizerKind>(index);
  }
  bool sgd = optimizer.kind == OptimizerKind::SGD;
  if (optimizer.kind != OptimizerKind::AdamW)
    optimizer.weightDecay = 0;
  auto custom = [&](auto reader) {
    return [&optimizer, reader](std::string_view field, const json &entry) {
      return reader(optimizer, field, entry);
    };
  };
  std::array<Field, 7> fields = {
      Field{"name", [](std::string_view, const json &) { return Status(); }},
      numberField("lr", optimizer.lr, 0, maxDouble, "of at least 0"),
      Field{"betas", custom(readBetas)},
      numberField("eps", optimizer.eps, 0, maxDouble, "of at least 0"),
      numberField("weight_decay", optimizer.weightDecay, 0, maxDouble,
                  "of at least 0"),
      numberField("momentum", optimizer.momentum, 0, maxDouble,
                  "of at least 0"),
      Field{"groups", custom(readGroups)}};
  SMP_RETURN_IF_ERROR(readObject(key, object, fields));
  for (const char *field : {"betas", "eps", "momentum"}) {
    bool belongsToSgd = field == std::string_view("momentum");
    if (object.contains(field) && belongsToSgd != sgd)
      return Error{"'optimizer." + std::string(field) + "' expects optimizer " +
                       (belongsToSgd ? "'sgd'" : "'adamw' or 'adam'") +
                       ", got '" + std::string(name(optimizer.kind)) + "'",
                   "leave it out, or set 'optimizer.name'"};
  }
  config.optimizer = std::move(optimizer);
  return {};
}

json detail::writeOptimizer(const Config &config) {
  const OptimizerConfig &optimizer = config.optimizer;
  json value = {{"name", name(optimizer.kind)},
                {"lr", optimizer.lr},
                {"weight_decay", optimizer.weightDecay}};
  if (optimizer.kind == OptimizerKind::SGD) {
    value["momentum"] = optimizer.momentum;
  } else {
    value["betas"] = {optimizer.beta1, optimizer.beta2};
    value["eps"] = optimizer.eps;
  }
  for (const OptimizerGroup &group : optimizer.groups) {
    json entry = {{"match", group.match}};
    if (group.weightDecay)
      entry["weight_decay"] = *group.weightDecay;
    if (group.lrScale)
      entry["lr_scale"] = *group.lrScale;
    if (group.frozen)
      entry["frozen"] = true;
    value["groups"].push_back(std::move(entry));
  }
  return value;
}

Status detail::readRates(Config &config, const json &value) {
  RateConfig rates;
  const json object = value.is_string() ? json{{"name", value}} : value;
  int64_t total = -1;
  std::array<Field, 4> fields = {
      Field{"name",
            [&](std::string_view key, const json &kind) -> Status {
              SMP_ASSIGN_OR_RETURN(size_t index,
                                   readChoice(key, kind, rateNames));
              rates.kind = static_cast<RateSchedule>(index);
              return {};
            }},
      integerField("warmup_steps", rates.warmupSteps, 0),
      integerField("total_steps", total, 1),
      numberField("min_lr", rates.minLr, 0, maxDouble, "of at least 0")};
  SMP_RETURN_IF_ERROR(readObject("lr_schedule", object, fields));
  if (total >= 0)
    rates.totalSteps = total;
  config.lrSchedule = rates;
  return {};
}

json detail::writeRates(const Config &config) {
  const RateConfig &rates = config.lrSchedule;
  json value = {{"name", name(rates.kind)},
                {"warmup_steps", rates.warmupSteps},
                {"min_lr", rates.minLr}};
  if (rates.totalSteps)
    value["total_steps"] = *rates.totalSteps;
  return value;
}

/// Section 7's defaults of dynamic scaling.
static LossScaleConfig dynamicScale() {
  LossScaleConfig scale;
  scale.dynamic = true;
  scale.initScale = 0x1p32;
  return scale;
}

LossScaleConfig Config::effectiveLossScale() const {
  return lossScale ? *lossScale : fp16 ? dynamicScale() : LossScaleConfig{};
}

Status detail::readLossScale(Config &config, const json &value) {
  LossScaleConfig scale = dynamicScale();
  if (value.is_number()) {
    scale = LossScaleConfig{};
    SMP_ASSIGN_OR_RETURN(scale.initScale, readNumber("loss_scale", value, tiny,
                                                     maxDouble, "above 0"));
  } else if (value.is_object()) {
    std::array<Field, 6> fields = {
        numberField("init_scale", scale.initScale, tiny, maxDouble, "above 0"),
        numberField("scale_factor", scale.scaleFactor, std::nextafter(1.0, 2.0),
                    maxDouble, "above 1"),
        integerField("scale_window", scale.scaleWindow, 1),
        numberField("min_scale", scale.minScale, tiny, maxDouble, "above 0"),
        integerField("delayed_shift", scale.delayedShift, 1),
        boolField("consecutive_hysteresis", scale.consecutiveHysteresis)};
    SMP_RETURN_IF_ERROR(readObject("loss_scale", value, fields));
  } else if (value != "dynamic") {
    return Error{"'loss_scale' expects a number, 'dynamic' or an object, got " +
                 shortText(value)};
  }
  config.lossScale = scale;
  return {};
}

json detail::writeLossScale(const Config &config) {
  LossScaleConfig scale = config.effectiveLossScale();
  if (!config.lossScale && !scale.dynamic)
    return nullptr;
  if (!scale.dynamic)
    return scale.initScale;
  return {{"init_scale", scale.initScale},
          {"scale_factor", scale.scaleFactor},
          {"scale_window", scale.scaleWindow},
          {"min_scale", scale.minScale},
          {"delayed_shift", scale.delayedShift},
          {"consecutive_hysteresis", scale.consecutiveHysteresis}};
}
