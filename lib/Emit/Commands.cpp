//===- Commands.cpp - The commands of one program --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "smp/Memory/Waits.h"

using namespace mlir;
using namespace smp;
using namespace smp::emit;
using nlohmann::json;

/// Sums are merged up to this size, so that the next command can start before
/// all of them are done.
static constexpr int64_t bucketBytes = 16 << 20;
static constexpr int64_t padding = 256;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

unsigned Groups::indexOf(GroupAttr group) {
  auto found = llvm::find(groups, group);
  if (found == groups.end()) {
    groups.push_back(group);
    return groups.size() - 1;
  }
  return found - groups.begin();
}

json Groups::toJson() const {
  json result = json::array();
  for (GroupAttr group : groups) {
    std::string name;
    json axes = json::array(), members = json::object();
    for (AxisAttr axis : group.getAxes()) {
      std::string axisName = axis.getName().str();
      name += (name.empty() ? "" : ",") + axisName;
      axes.push_back(axisName);
      if (axis.getMembers().empty())
        continue;
      json list = json::array();
      name += "{";
      for (auto [i, member] : llvm::enumerate(axis.getMembers())) {
        list.push_back(member);
        name += (i ? "," : "") + std::to_string(member);
      }
      name += "}";
      members[axisName] = std::move(list);
    }
    json entry = {{"name", name}, {"axes", axes}};
    if (!members.empty())
      entry["members"] = members;
    result.push_back(std::move(entry));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// CommandList
//===----------------------------------------------------------------------===//

void CommandList::append(Operation *op, json fields, std::vector<Place> reads,
                         std::vector<Place> writes, StringRef scope) {
  if (!fields.contains("queue"))
    fields["queue"] = "compute";
  commands.push_back({std::move(fields), std::move(reads), std::move(writes),
                      op->getLoc(), scope.str()});
}

void CommandList::appendCopy(Location location, const Place &from,
                             const Place &to) {
  commands.push_back({{{"kind", "copy"},
                       {"queue", "copy"},
                       {"from", from.operand()},
                       {"to", to.operand()}},
                      {from},
                      {to},
                      location,
                      ""});
}

void CommandList::appendFill(Operation *op, const Place &to) {
  append(op, {{"kind", "fill"}, {"to", to.operand()}, {"value", 0}}, {}, {to});
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

static bool isSum(const Command &command) {
  return command.fields["kind"] == "collective" &&
         command.fields["op"] == "all_reduce";
}

static bool touches(const Command &command, const Place &place) {
  auto overlaps = [&](const Place &other) { return other.overlaps(place); };
  return llvm::any_of(command.reads, overlaps) ||
         llvm::any_of(command.writes, overlaps);
}

/// Lets `sum` take in the range of `next`, where that only crosses padding.
static bool extend(Command &sum, const Command &next) {
  Place &place = sum.reads[0];
  const Place &added = next.reads[0];
  int64_t end = place.offset + place.bytes;
  if (sum.fields["group"] != next.fields["group"] ||
      sum.fields["dtype"] != next.fields["dtype"] ||
      place.arena != added.arena || added.offset < end ||
      added.offset - end >= padding ||
      added.offset + added.bytes - place.offset > bucketBytes)
    return false;
  int64_t width = place.bytes / sum.fields["count"].get<int64_t>();
  place.bytes = added.offset + added.bytes - place.offset;
  sum.writes = {place};
  sum.fields["buffer"] = place.operand();
  sum.fields["count"] = place.bytes / width;
  return true;
}

std::vector<Command> emit::mergeCommands(std::vector<Command> commands) {
  std::vector<Command> result;
  int64_t last = -1; // the sum that may grow
  for (Command &command : commands) {
    bool merged = false;
    if (isSum(command) && last >= 0) {
      bool between = llvm::any_of(ArrayRef(result).drop_front(last + 1),
                                  [&](const Command &other) {
                                    return touches(other, command.reads[0]);
                                  });
      merged = !between && extend(result[last], command);
    }
    if (merged)
      continue;
    if (isSum(command))
      last = result.size();
    result.push_back(std::move(command));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string locationText(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine());
    return WalkResult::interrupt();
  });
  return text;
}

static json operands(const std::vector<Place> &places) {
  json result = json::array();
  for (const Place &place : places)
    result.push_back(place.operand());
  return result;
}

json emit::programToJson(const std::vector<Command> &commands) {
  std::vector<memory::CommandAccess> accesses;
  accesses.reserve(commands.size());
  auto ranges = [](const std::vector<Place> &places) {
    std::vector<memory::ByteRange> result;
    result.reserve(places.size());
    for (const Place &place : places)
      result.push_back({static_cast<int>(place.arena), place.offset,
                        place.offset + place.bytes});
    return result;
  };
  for (const Command &command : commands)
    accesses.push_back({ranges(command.reads), ranges(command.writes)});
  memory::Waits waits = memory::planWaits(accesses);
  json list = json::array();
  for (auto [id, command] : llvm::enumerate(commands)) {
    json entry = command.fields;
    entry["id"] = id;
    entry["waits"] = waits[id];
    entry["reads"] = operands(command.reads);
    entry["writes"] = operands(command.writes);
    if (std::string text = locationText(command.location); !text.empty())
      entry["loc"] = text;
    if (!command.scope.empty())
      entry["scope"] = command.scope;
    list.push_back(std::move(entry));
  }
  return {{"commands", std::move(list)}};
}
