//===- Arenas.cpp - Where the bound values of a job lie --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arenas.h"
#include "smp/Memory/ArenaPlan.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace smp;
using namespace smp::emit;
using nlohmann::json;

static constexpr int64_t alignment = 256;

json Place::operand() const {
  json result = {{"a", arena}, {"n", bytes}, {"o", offset}};
  if (slotted)
    result["s"] = true;
  return result;
}
json Place::reference() const {
  return {{"arena", arena}, {"bytes", bytes}, {"offset", offset}};
}

int64_t emit::bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  unsigned bits = tensor.getElementType().getIntOrFloatBitWidth();
  return tensor.getNumElements() * std::max(1u, bits / 8);
}

std::string emit::dataTypeName(Type type) {
  if (type.isInteger(1))
    return "bool";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The boundary between chunk `from` and its neighbour.
static std::string edgeArena(const char *what, int64_t from, int64_t to) {
  return "boundary." + std::string(what) + ".c" + std::to_string(from) + "-c" +
         std::to_string(to);
}

BoundName emit::nameOf(BindingAttr binding, int64_t chunk, bool isResult) {
  std::string key = binding.getKey().str();
  switch (binding.getKind()) {
  case BindingKind::Input:
    return {"input." + key, "input", key, true};
  case BindingKind::Parameter:
    return {"parameters", "parameters", key};
  case BindingKind::State:
    return {"state", "state", key};
  case BindingKind::Activation:
    return {isResult ? edgeArena("act", chunk, chunk + 1)
                     : edgeArena("act", chunk - 1, chunk),
            "boundary", key, true};
  case BindingKind::Cotangent:
    return {isResult ? edgeArena("cot", chunk, chunk - 1)
                     : edgeArena("cot", chunk + 1, chunk),
            "boundary", key, true};
  case BindingKind::Saved:
    return {"stash.c" + std::to_string(chunk), "stash", key, true};
  case BindingKind::Gradient:
    return {"gradients", "gradients", key};
  case BindingKind::Optimizer:
    return {"optimizer", "optimizer", key};
  case BindingKind::Output:
    return {"workspace", "workspace", "output/" + key};
  case BindingKind::Count:
    return {"scalars", "scalars", "count/" + key};
  case BindingKind::Loss:
    return {"scalars", "scalars", "loss/" + key};
  case BindingKind::Metric:
    return {"scalars", "scalars", "metric/" + key};
  }
  llvm_unreachable("all kinds of bindings are named");
}

//===----------------------------------------------------------------------===//
// RankArenas
//===----------------------------------------------------------------------===//

unsigned RankArenas::arena(const std::string &name, const std::string &kind,
                           bool slotted) {
  auto [entry, isNew] = index.try_emplace(name, arenas.size());
  if (isNew)
    arenas.push_back({name, kind, slotted});
  return entry->second;
}

void RankArenas::reserve(const BoundName &name, int64_t bytes,
                         std::string order) {
  unsigned which = arena(name.arena, name.kind, name.slotted);
  reserved[which][{std::move(order), name.key}] = bytes;
}

void RankArenas::layOut() {
  for (auto &[which, values] : reserved) {
    ArenaInfo &info = arenas[which];
    for (auto &[orderAndKey, bytes] : values) {
      places[{info.name, orderAndKey.second}] = {which, info.stride, bytes,
                                                 info.slotted};
      info.stride += memory::alignUp(bytes, alignment);
    }
  }
}

const Place *RankArenas::find(const std::string &arena,
                              const std::string &key) const {
  auto found = places.find({arena, key});
  return found == places.end() ? nullptr : &found->second;
}

/// What a run that does not execute all schedules may leave out. Parameters,
/// states and the like are there before the first one.
static void addUsed(json &entry, const ArenaInfo &arena) {
  static const std::set<std::string> kinds = {
      "gradients", "optimizer", "input", "stash", "boundary", "workspace"};
  if (!kinds.count(arena.kind) || llvm::all_of(arena.used, [&](int64_t used) {
        return used == arena.bytes();
      }))
    return;
  for (auto [name, used] : llvm::zip(scheduleNames, arena.used))
    entry["used"][name.str()] = used;
}

json RankArenas::toJson() const {
  json result = json::array();
  for (const ArenaInfo &arena : arenas) {
    json entry = {{"name", arena.name},
                  {"kind", arena.kind},
                  {"stride", arena.stride},
                  {"slots", arena.slots}};
    if (arena.constants)
      entry["constants"] = {{"offset", arena.constants->first},
                            {"bytes", arena.constants->second}};
    addUsed(entry, arena);
    result.push_back(std::move(entry));
  }
  return result;
}

int64_t RankArenas::peakBytes() const {
  int64_t sum = 0;
  for (const ArenaInfo &arena : arenas)
    sum += arena.bytes();
  return sum;
}

//===----------------------------------------------------------------------===//
// Layout of a job
//===----------------------------------------------------------------------===//

static std::string padded(size_t number) {
  std::string digits = std::to_string(number);
  return std::string(8 - std::min<size_t>(8, digits.size()), '0') + digits;
}

namespace {
/// Collects the bound values of all programs.
class Layout {
public:
  explicit Layout(const Programs &programs)
      : programs(programs), ranks(programs.ranks) {
    for (ParameterOp parameter : programs.parameters)
      positions.try_emplace(parameter.getSymName().str(), positions.size());
  }

  std::vector<RankArenas> run() {
    findHolders();
    for (RankArenas &rank : ranks)
      for (const char *kind : {"parameters", "gradients", "optimizer", "state",
                               "constants", "scalars", "workspace"})
        rank.arena(kind, kind);
    for (const Program &program : programs.all) {
      func::FuncOp function = program.function;
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
        add(program, program.argument(i), type, false);
      for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
        add(program, program.result(i), type, true);
    }
    for (RankArenas &rank : ranks)
      rank.layOut();
    return std::move(ranks);
  }

private:
  std::string canonical(StringRef name) const {
    auto found = programs.canonical.find(name.str());
    return found == programs.canonical.end() ? name.str() : found->second;
  }

  void findHolders() {
    for (const Program &program : programs.all)
      for (unsigned i = 0; i < func::FuncOp(program.function).getNumArguments();
           ++i)
        if (program.argument(i).getKind() == BindingKind::Parameter)
          holders[canonical(program.argument(i).getKey())].insert(program.rank);
  }

  /// Parameters that share a reduction lie together: those of one stage, then
  /// those of several; within, the order of the module.
  std::string parameterOrder(StringRef name) const {
    std::string parameter = canonical(name);
    auto holding = holders.find(parameter);
    bool shared = holding != holders.end() && holding->second.size() > 1;
    auto position = positions.find(parameter);
    return (shared ? "1" : "0") +
           padded(position == positions.end() ? 0 : position->second);
  }

  /// Sorts keys such as "v10" by their number.
  static std::string numberedOrder(StringRef key) {
    return padded(key.size()) + key.str();
  }

  std::string orderOf(BindingAttr binding) const {
    StringRef key = binding.getKey();
    switch (binding.getKind()) {
    case BindingKind::Parameter:
    case BindingKind::Gradient:
      return parameterOrder(key);
    case BindingKind::Optimizer: {
      auto [parameter, state] = key.rsplit('/');
      return state.str() + "/" + parameterOrder(parameter);
    }
    case BindingKind::Activation:
    case BindingKind::Cotangent:
    case BindingKind::Saved:
      return numberedOrder(key);
    default:
      return key.str();
    }
  }

  void add(const Program &program, BindingAttr binding, Type type,
           bool isResult) {
    // Outputs have a place when the workspace has been planned.
    if (binding.getKind() == BindingKind::Output)
      return;
    BoundName name = nameOf(binding, program.chunk, isResult);
    if (binding.getKind() == BindingKind::Parameter)
      name.key = canonical(name.key);
    std::string order = orderOf(binding);
    ranks[program.rank].reserve(name, bytesOf(type), order);
    // Both ends of an edge are laid out alike: it travels as one piece.
    if (name.kind == "boundary" && name.slotted) {
      int64_t step = binding.getKind() == BindingKind::Activation ? 1 : -1;
      int64_t other = program.chunk + (isResult ? step : -step);
      if (other >= 0 && other < int64_t(programs.rankOfChunk.size()))
        ranks[programs.rankOfChunk[other]].reserve(name, bytesOf(type), order);
    }
  }

  const Programs &programs;
  std::vector<RankArenas> ranks;
  std::map<std::string, size_t> positions;
  std::map<std::string, std::set<int64_t>> holders;
};
} // namespace

std::vector<RankArenas> emit::layOutArenas(const Programs &programs) {
  return Layout(programs).run();
}

const Place &emit::placeOf(const Programs &programs,
                           const std::vector<RankArenas> &ranks,
                           const Program &program, BindingAttr binding,
                           bool isResult) {
  BoundName name = nameOf(binding, program.chunk, isResult);
  if (binding.getKind() == BindingKind::Parameter)
    if (auto found = programs.canonical.find(name.key);
        found != programs.canonical.end())
      name.key = found->second;
  return ranks[program.rank].at(name);
}
