//===- Manifest.cpp - job.json ---------------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Constants.h"
#include "smp/Memory/ArenaPlan.h"

#include <set>

using namespace mlir;
using namespace smp;
using namespace smp::emit;
using nlohmann::json;

/// States up to this many elements stand in the manifest itself.
static constexpr int64_t inlineElements = 64;

static json shapeOf(RankedTensorType type) {
  return std::vector<int64_t>(type.getShape().begin(), type.getShape().end());
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

std::string emit::roleOf(func::FuncOp function, unsigned argument) {
  auto role = function.getArgAttrOfType<StringAttr>(argument, kRoleAttr);
  return role ? role.str() : "input";
}

std::vector<JobInput>
emit::collectInputs(const Programs &programs,
                    const std::vector<RankArenas> &ranks) {
  std::map<std::string, JobInput> inputs;
  for (const Program &program : programs.all) {
    func::FuncOp function = program.function;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      BindingAttr binding = program.argument(i);
      if (binding.getKind() != BindingKind::Input)
        continue;
      std::string name = binding.getKey().str();
      JobInput &input = inputs[name];
      input.name = name;
      input.role = roleOf(function, i);
      input.type = cast<RankedTensorType>(type);
      if (auto below = function.getArgAttrOfType<IntegerAttr>(i, kBelowAttr))
        input.below = input.below ? std::min(input.below, below.getInt())
                                  : below.getInt();
      if (auto ignored =
              function.getArgAttrOfType<IntegerAttr>(i, kIgnoredAttr))
        input.ignored = ignored.getInt();
      input.consumers[program.rank] =
          ranks[program.rank].indexOf("input." + name);
    }
  }
  std::vector<JobInput> result;
  result.reserve(inputs.size());
  for (auto &[name, input] : inputs)
    result.push_back(input);
  return result;
}

static json inputsToJson(const std::vector<JobInput> &inputs) {
  json result = json::array();
  for (const JobInput &input : inputs) {
    json consumers = json::object();
    for (auto [rank, arena] : input.consumers)
      consumers[std::to_string(rank)] = {{"arena", arena}};
    result.push_back({{"name", input.name},
                      {"role", input.role},
                      {"dtype", dataTypeName(input.type.getElementType())},
                      {"shape", shapeOf(input.type)},
                      {"consumers", consumers}});
    if (input.below)
      result.back()["below"] = input.below;
    if (input.ignored)
      result.back()["ignored"] = *input.ignored;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Parameters and states
//===----------------------------------------------------------------------===//

static json distributionToJson(InitAttr init) {
  switch (init.getKind()) {
  case InitKind::Constant:
    return {{"kind", "constant"}, {"value", init.getA()}};
  case InitKind::Normal:
    return {{"kind", "normal"}, {"mean", init.getA()}, {"std", init.getB()}};
  case InitKind::Uniform:
    return {{"kind", "uniform"}, {"low", init.getA()}, {"high", init.getB()}};
  case InitKind::TruncatedNormal:
    return {{"kind", "truncated_normal"},
            {"mean", init.getA()},
            {"std", init.getB()},
            {"low", init.getLow()},
            {"high", init.getHigh()}};
  }
  llvm_unreachable("all initialisers are written");
}

static json initToJson(InitAttr init) {
  json result = distributionToJson(init);
  if (init.getZeroEnd() > 0)
    result["zeroed"] = {init.getZeroBegin(), init.getZeroEnd()};
  return result;
}

static json locationOf(ParameterOp parameter, const RankArenas &arenas,
                       std::set<std::string> &states) {
  std::string name = parameter.getSymName().str();
  json location = {{"parameter", arenas.find("parameters", name)->reference()},
                   {"gradients", json::object()},
                   {"optimizer", json::object()}};
  std::vector<std::string> names = {name};
  for (Attribute alias : parameter.getAliases())
    names.push_back(cast<StringAttr>(alias).str());
  for (const std::string &each : names)
    if (const Place *place = arenas.find("gradients", each))
      location["gradients"][each] = place->reference();
  for (const char *state : {"exp_avg", "exp_avg_sq", "momentum_buffer"})
    if (const Place *place = arenas.find("optimizer", name + "/" + state)) {
      location["optimizer"][state] = place->reference();
      states.insert(state);
    }
  return location;
}

static json parametersToJson(const Programs &programs,
                             const std::vector<RankArenas> &ranks) {
  json result = json::array();
  for (ParameterOp parameter : programs.parameters) {
    std::string name = parameter.getSymName().str();
    auto type = cast<RankedTensorType>(parameter.getType());
    json holders = json::array(), location = json::object();
    std::set<std::string> states;
    for (auto [rank, arenas] : llvm::enumerate(ranks)) {
      if (!arenas.find("parameters", name))
        continue;
      holders.push_back(rank);
      location[std::to_string(rank)] = locationOf(parameter, arenas, states);
    }
    if (holders.empty())
      continue; // nothing reads it
    json aliases = json::array();
    for (Attribute alias : parameter.getAliases())
      aliases.push_back(cast<StringAttr>(alias).str());
    json entry = {{"name", name},
                  {"aliases", aliases},
                  {"shape", shapeOf(type)},
                  {"dtype", dataTypeName(type.getElementType())},
                  {"requires_grad", !parameter.getFrozen()},
                  {"optimizer", states},
                  {"holders", holders},
                  {"location", location}};
    if (auto init = parameter.getInitAttr())
      entry["init"] = initToJson(init);
    result.push_back(std::move(entry));
  }
  return result;
}

static json stateValue(ElementsAttr value, std::string &constants) {
  if (value.getNumElements() > inlineElements ||
      isa<DenseResourceElementsAttr>(value)) {
    int64_t offset = memory::alignUp(constants.size(), 256);
    constants.resize(offset);
    std::string bytes = elementBytes(value);
    constants += bytes;
    return {{"file", {{"offset", offset}, {"bytes", bytes.size()}}}};
  }
  json list = json::array();
  auto dense = cast<DenseElementsAttr>(value);
  if (isa<FloatType>(dense.getElementType()))
    for (const APFloat &element : dense.getValues<APFloat>()) {
      APFloat wide = element;
      bool loses;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      list.push_back(wide.convertToDouble());
    }
  else
    for (const APInt &element : dense.getValues<APInt>())
      list.push_back(element.getBitWidth() <= 8
                         ? int64_t(element.getZExtValue())
                         : element.getSExtValue());
  return list;
}

static json statesToJson(const Programs &programs,
                         const std::vector<RankArenas> &ranks,
                         std::string &constants) {
  json result = json::array();
  for (StateOp state : ModuleOp(programs.module).getOps<StateOp>()) {
    std::string name = state.getSymName().str();
    auto type = cast<RankedTensorType>(state.getType());
    json holders = json::array(), location = json::object();
    for (auto [rank, arenas] : llvm::enumerate(ranks))
      if (const Place *place = arenas.find("state", name)) {
        holders.push_back(rank);
        location[std::to_string(rank)] = place->reference();
      }
    if (holders.empty())
      continue;
    json entry = {{"name", name},
                  {"shape", shapeOf(type)},
                  {"dtype", dataTypeName(type.getElementType())},
                  {"holders", holders},
                  {"location", location}};
    if (auto value = state.getValueAttr())
      entry["value"] = stateValue(value, constants);
    result.push_back(std::move(entry));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Outputs and numbers of the step
//===----------------------------------------------------------------------===//

static json outputsToJson(const Programs &programs,
                          const std::vector<RankArenas> &ranks) {
  std::map<std::string, json> outputs;
  for (const Program &program : programs.all) {
    func::FuncOp function = program.function;
    for (auto [i, each] : llvm::enumerate(function.getResultTypes())) {
      BindingAttr binding = program.result(i);
      if (binding.getKind() != BindingKind::Output)
        continue;
      auto type = cast<RankedTensorType>(each);
      std::string name = binding.getKey().str();
      outputs[name] = {{"name", name},
                       {"rank", program.rank},
                       {"dtype", dataTypeName(type.getElementType())},
                       {"shape", shapeOf(type)},
                       {"ref", ranks[program.rank]
                                   .at(nameOf(binding, program.chunk, true))
                                   .reference()}};
    }
  }
  json result = json::array();
  for (auto &[name, output] : outputs)
    result.push_back(output);
  return result;
}

/// The names of what programs give of a kind.
static std::set<std::string> keysOf(const Programs &programs,
                                    BindingKind kind) {
  std::set<std::string> keys;
  for (const Program &program : programs.all)
    for (unsigned i = 0; i < func::FuncOp(program.function).getNumResults();
         ++i)
      if (program.result(i).getKind() == kind)
        keys.insert(program.result(i).getKey().str());
  return keys;
}

/// The first place bound to `key`, or to any if that is empty, on the first
/// rank that has one.
static void addScalar(json &scalars, const std::string &name, BindingKind kind,
                      StringRef key, const Programs &programs,
                      const std::vector<RankArenas> &ranks) {
  const Program *best = nullptr;
  BindingAttr chosen;
  for (const Program &program : programs.all)
    for (unsigned i = 0; i < func::FuncOp(program.function).getNumResults();
         ++i) {
      BindingAttr binding = program.result(i);
      if (binding.getKind() == kind &&
          (key.empty() || binding.getKey() == key) &&
          (!best || program.rank < best->rank)) {
        best = &program;
        chosen = binding;
      }
    }
  if (best)
    scalars[name] = {
        {"rank", best->rank},
        {"ref", placeOf(programs, ranks, *best, chosen, true).reference()}};
}

static json scalarsToJson(const Programs &programs,
                          const std::vector<RankArenas> &ranks) {
  json scalars = json::object();
  addScalar(scalars, "loss", BindingKind::Loss, "", programs, ranks);
  addScalar(scalars, "count", BindingKind::Count, "", programs, ranks);
  for (const std::string &name : keysOf(programs, BindingKind::Metric))
    addScalar(scalars, name, BindingKind::Metric, name, programs, ranks);
  return scalars;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static json lossNames(const Programs &programs) {
  json result = json::array();
  for (const std::string &name : keysOf(programs, BindingKind::Loss))
    result.push_back({{"name", name}});
  return result;
}

static json dataToJson(ModuleOp module) {
  auto convention = module->getAttrOfType<StringAttr>("smp.data_convention");
  if (!convention)
    return {{"kind", "arrays"}};
  json data = {{"kind", "tokens"}, {"convention", convention.str()}};
  if (auto size = module->getAttrOfType<IntegerAttr>(kVocabularyAttr))
    data["vocabulary"] = size.getInt();
  return data;
}

static json ranksToJson(const Programs &programs,
                        const std::vector<RankArenas> &ranks) {
  json result = json::array();
  for (auto [rank, arenas] : llvm::enumerate(ranks)) {
    json chunks = json::array();
    for (auto [chunk, owner] : llvm::enumerate(programs.rankOfChunk))
      if (owner == static_cast<int64_t>(rank))
        chunks.push_back(chunk);
    result.push_back({{"arenas", arenas.toJson()},
                      {"peak_bytes", arenas.peakBytes()},
                      {"chunks", chunks}});
  }
  return result;
}

json emit::manifest(const Programs &programs,
                    const std::vector<RankArenas> &ranks,
                    const std::vector<JobInput> &inputs,
                    const EmitOptions &options, std::string &constants) {
  const Config &config = options.config;
  json effective = toJson(config);
  json chunks = json::array();
  for (int64_t rank : programs.rankOfChunk)
    chunks.push_back({{"rank", rank}});
  json job = {
      {"version", "1.0"},
      {"smp", "0.1.0"},
      {"model", options.model},
      {"axes", {{"pp", programs.ranks}, {"tp", config.tensorParallelDegree}}},
      {"placement", config.placementStrategy},
      {"microbatches", config.microbatches},
      {"microbatch_rows",
       inputs.empty() ? 1 : inputs.front().type.getDimSize(0)},
      {"accumulation", config.gradientAccumulation},
      {"dtype", "f32"},
      {"parameters", parametersToJson(programs, ranks)},
      {"states", statesToJson(programs, ranks, constants)},
      {"inputs", inputsToJson(inputs)},
      {"data", dataToJson(programs.module)},
      {"losses", lossNames(programs)},
      {"outputs", outputsToJson(programs, ranks)},
      {"ranks", ranksToJson(programs, ranks)},
      {"chunks", chunks},
      {"scalars", scalarsToJson(programs, ranks)},
      {"flops_per_step", options.flopsPerStep},
      {"needs_init",
       ModuleOp(programs.module)->hasAttr("smp.exported_weights")},
      {"predicted", options.predicted}};
  for (const char *key : {"optimizer", "lr_schedule", "gradient_clipping"})
    job[key] = effective.contains(key) ? effective[key] : json();
  job["config"] = std::move(effective);
  return job;
}
