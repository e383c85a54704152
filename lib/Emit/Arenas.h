//===- Arenas.h - Where the bound values of a job lie -----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every argument and result of a program is bound to something (a parameter, a
// saved value, an activation between two chunks), and so has a place in an
// arena of its pp rank. Parameters, gradients and moments share one order, so
// that neighbours in one are neighbours in the others.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_ARENAS_H
#define SMP_LIB_EMIT_ARENAS_H

#include "Programs.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace smp::emit {

/// A range of an arena of one rank.
struct Place {
  unsigned arena = 0;
  int64_t offset = 0, bytes = 0;
  bool slotted = false;
  bool operator==(const Place &) const = default;

  bool overlaps(const Place &other) const {
    return arena == other.arena && offset < other.offset + other.bytes &&
           other.offset < offset + bytes;
  }
  /// An operand of a command: {"a", "o", "n", "s"}.
  nlohmann::json operand() const;
  /// A fixed place of the manifest: {"arena", "offset", "bytes"}.
  nlohmann::json reference() const;
};

/// The schedules of a job.
inline constexpr std::array<llvm::StringLiteral, 3> scheduleNames = {
    "train", "evaluate", "predict"};

struct ArenaInfo {
  std::string name, kind;
  bool slotted = false;
  int64_t stride = 0, slots = 1;
  /// Range of constants.bin that it starts with.
  std::optional<std::pair<int64_t, int64_t>> constants = {};
  /// Bytes that each schedule uses.
  std::array<int64_t, scheduleNames.size()> used = {};

  int64_t bytes() const { return stride * slots; }
};

/// Bytes of a dense tensor; truth values take one.
int64_t bytesOf(mlir::Type tensor);
/// "f32", "i64", ...
std::string dataTypeName(mlir::Type elementType);

/// What a binding of a program stands for: the name of its arena and a key in
/// it.
struct BoundName {
  std::string arena, kind, key;
  bool slotted = false;
};
/// `isResult` tells the direction of activations and cotangents.
BoundName nameOf(BindingAttr binding, int64_t chunk, bool isResult);

/// The arenas of one pp rank.
class RankArenas {
public:
  /// Makes room for a value; the same arena and key are one place.
  void reserve(const BoundName &name, int64_t bytes, std::string order);
  /// Adds an empty arena, or finds it.
  unsigned arena(const std::string &name, const std::string &kind,
                 bool slotted = false);
  /// Gives the reserved values their offsets.
  void layOut();
  void place(const BoundName &name, const Place &place) {
    places[{name.arena, name.key}] = place;
  }

  const Place *find(const std::string &arena, const std::string &key) const;
  const Place &at(const BoundName &name) const {
    return *find(name.arena, name.key);
  }
  unsigned indexOf(const std::string &name) const { return index.at(name); }
  bool has(const std::string &name) const { return index.count(name); }

  nlohmann::json toJson() const;
  int64_t peakBytes() const;

  std::vector<ArenaInfo> arenas;

private:
  std::map<std::string, unsigned> index;
  /// By arena, then order and key.
  std::map<unsigned, std::map<std::pair<std::string, std::string>, int64_t>>
      reserved;
  std::map<std::pair<std::string, std::string>, Place> places;
};

/// The arenas of all ranks, without those that need programs' code: workspace
/// and constants are filled by `emitPrograms`.
std::vector<RankArenas> layOutArenas(const Programs &programs);

/// Where an argument or result of a program lies.
const Place &placeOf(const Programs &programs,
                     const std::vector<RankArenas> &ranks,
                     const Program &program, BindingAttr binding,
                     bool isResult);

} // namespace smp::emit

#endif // SMP_LIB_EMIT_ARENAS_H
