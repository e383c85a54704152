//===- Grid.cpp - Ranks, coordinates and groups ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Grid.h"
#include <algorithm>
#include <charconv>
#include <ranges>

using namespace smp;

std::string_view smp::axisName(Axis axis) {
  return axis == Axis::PP ? "pp" : axis == Axis::TP ? "tp" : "rdp";
}

Result<Axis> smp::parseAxis(std::string_view name) {
  for (Axis axis : {Axis::PP, Axis::TP, Axis::RDP})
    if (axisName(axis) == name)
      return axis;
  return Error{"expects an axis, got '" + std::string(name) + "'",
               "the axes are 'pp', 'tp' and 'rdp'"};
}

Result<std::string> smp::canonicalPlacement(std::string_view placement) {
  if (placement == "cluster")
    return std::string("DPT");
  if (placement == "spread")
    return std::string("TPD");
  std::string sorted(placement);
  std::ranges::sort(sorted);
  if (sorted == "DPT")
    return std::string(placement);
  return Error{
      "'placement_strategy' expects 'cluster', 'spread' or a permutation of "
      "the letters D, P and T, got '" +
          std::string(placement) + "'",
      "'cluster' is DPT, 'spread' is TPD; the rightmost letter varies fastest"};
}

std::string_view smp::groupKindName(GroupKind kind) {
  switch (kind) {
  case GroupKind::World:
    return "world";
  case GroupKind::PP:
    return "pp";
  case GroupKind::TP:
    return "tp";
  case GroupKind::RDP:
    return "rdp";
  case GroupKind::DP:
    return "dp";
  case GroupKind::MP:
    return "mp";
  }
  __builtin_unreachable();
}

AxisGroup smp::axesOf(GroupKind kind) {
  switch (kind) {
  case GroupKind::World:
    return {{{Axis::PP}, {Axis::TP}, {Axis::RDP}}};
  case GroupKind::PP:
    return {{{Axis::PP}}};
  case GroupKind::TP:
    return {{{Axis::TP}}};
  case GroupKind::RDP:
    return {{{Axis::RDP}}};
  case GroupKind::DP:
    return {{{Axis::TP}, {Axis::RDP}}};
  case GroupKind::MP:
    return {{{Axis::PP}, {Axis::TP}}};
  }
  __builtin_unreachable();
}

std::string AxisGroup::str() const {
  std::string text;
  for (const Member &member : axes) {
    text += (text.empty() ? "" : ",") + std::string(axisName(member.axis));
    if (member.coordinates.empty())
      continue;
    text += '{';
    for (size_t i = 0; i < member.coordinates.size(); ++i)
      text += (i ? "," : "") + std::to_string(member.coordinates[i]);
    text += '}';
  }
  return text;
}

/// Reads "{0,3}" at the front of `text`.
static Result<std::vector<int>> parseCoordinates(std::string_view &text) {
  std::vector<int> coordinates;
  do {
    text.remove_prefix(1); // '{' or ','
    int value = -1;
    auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || value < 0)
      return Error{"expects a coordinate, got '" + std::string(text) + "'"};
    text.remove_prefix(end - text.data());
    coordinates.push_back(value);
  } while (!text.empty() && text.front() == ',');
  if (text.empty() || text.front() != '}')
    return Error{"expects '}' after the coordinates of a group, got '" +
                 std::string(text) + "'"};
  text.remove_prefix(1);
  std::ranges::sort(coordinates);
  if (std::ranges::adjacent_find(coordinates) != coordinates.end())
    return Error{"expects coordinates to differ within a group"};
  return coordinates;
}

Result<AxisGroup> AxisGroup::parse(std::string_view text) {
  AxisGroup group;
  while (!text.empty()) {
    size_t length = std::min(text.find_first_of(",{"), text.size());
    SMP_ASSIGN_OR_RETURN(Axis axis, parseAxis(text.substr(0, length)));
    for (const Member &member : group.axes)
      if (member.axis == axis)
        return Error{"expects each axis once in a group, got '" +
                     std::string(axisName(axis)) + "' twice"};
    text.remove_prefix(length);
    Member member{axis};
    if (!text.empty() && text.front() == '{') {
      SMP_ASSIGN_OR_RETURN(member.coordinates, parseCoordinates(text));
    }
    group.axes.push_back(std::move(member));
    if (text.empty())
      break;
    if (text.front() != ',' || text.size() == 1)
      return Error{"expects ',' and an axis in a group, got '" +
                   std::string(text) + "'"};
    text.remove_prefix(1);
  }
  return group;
}

Result<Grid> Grid::create(std::string_view placement, int pp, int tp,
                          int worldSize) {
  SMP_ASSIGN_OR_RETURN(std::string letters, canonicalPlacement(placement));
  if (pp < 1)
    return Error{"'pipeline_parallel_degree' expects an integer of at least 1, "
                 "got " +
                 std::to_string(pp)};
  if (tp < 1)
    return Error{"'tensor_parallel_degree' expects an integer of at least 1, "
                 "got " +
                 std::to_string(tp)};
  int64_t model = int64_t{pp} * tp;
  if (worldSize < 1 || worldSize % model)
    return Error{"expects a number of ranks that is a multiple of "
                 "pipeline_parallel_degree " +
                     std::to_string(pp) + " times tensor_parallel_degree " +
                     std::to_string(tp) + ", got " + std::to_string(worldSize) +
                     " ranks",
                 "start " + std::to_string(model) + " ranks for one replica, " +
                     std::to_string(2 * model) + " for two"};
  return Grid(std::move(letters), pp, tp, static_cast<int>(worldSize / model));
}

int Grid::size(Axis axis) const {
  return axis == Axis::PP ? ppSize : axis == Axis::TP ? tpSize : rdpSize;
}

static Axis axisOfLetter(char letter) {
  return letter == 'P' ? Axis::PP : letter == 'T' ? Axis::TP : Axis::RDP;
}

static int &field(Coordinate &coordinate, Axis axis) {
  return axis == Axis::PP   ? coordinate.pp
         : axis == Axis::TP ? coordinate.tp
                            : coordinate.rdp;
}

Coordinate Grid::coordinate(int rank) const {
  Coordinate result;
  for (char letter : letters | std::views::reverse) {
    Axis axis = axisOfLetter(letter);
    field(result, axis) = rank % size(axis);
    rank /= size(axis);
  }
  return result;
}

int Grid::rank(Coordinate coordinate) const {
  int rank = 0;
  for (char letter : letters) {
    Axis axis = axisOfLetter(letter);
    rank = rank * size(axis) + coordinate[axis];
  }
  return rank;
}

std::vector<int> Grid::members(const AxisGroup &group, int rank) const {
  std::vector<Coordinate> found = {coordinate(rank)};
  for (const AxisGroup::Member &member : group.axes) {
    std::vector<int> coordinates = member.coordinates;
    if (coordinates.empty())
      for (int i = 0; i < size(member.axis); ++i)
        coordinates.push_back(i);
    if (std::ranges::find(coordinates, found.front()[member.axis]) ==
        coordinates.end())
      return {};
    std::vector<Coordinate> varied;
    for (Coordinate from : found)
      for (int value : coordinates) {
        field(from, member.axis) = value;
        varied.push_back(from);
      }
    // The own coordinate stays in front: restrictions are checked against it.
    auto own = std::ranges::find(varied, coordinate(rank));
    std::iter_swap(varied.begin(), own);
    found = std::move(varied);
  }
  std::vector<int> ranks;
  for (const Coordinate &member : found)
    if (std::ranges::none_of(group.axes, [&](const AxisGroup::Member &axis) {
          return member[axis.axis] >= size(axis.axis);
        }))
      ranks.push_back(this->rank(member));
  std::ranges::sort(ranks);
  return ranks;
}

std::vector<int> Grid::members(GroupKind kind, int rank) const {
  return members(axesOf(kind), rank);
}

std::vector<std::vector<int>> Grid::groups(GroupKind kind) const {
  std::vector<std::vector<int>> all;
  for (int rank = 0; rank < worldSize(); ++rank) {
    std::vector<int> instance = members(kind, rank);
    if (instance.front() == rank)
      all.push_back(std::move(instance));
  }
  return all;
}

int Grid::position(GroupKind kind, int rank) const {
  std::vector<int> instance = members(kind, rank);
  return static_cast<int>(std::ranges::find(instance, rank) - instance.begin());
}

int Grid::groupSize(GroupKind kind) const {
  int ranks = 1;
  for (const AxisGroup::Member &member : axesOf(kind).axes)
    ranks *= size(member.axis);
  return ranks;
}

std::string smp::printRanks(const Grid &grid) {
  std::string text = "placement " + grid.placement() + ", " +
                     std::to_string(grid.worldSize()) + " ranks: pp " +
                     std::to_string(grid.pp()) + ", tp " +
                     std::to_string(grid.tp()) + ", rdp " +
                     std::to_string(grid.rdp()) + "\n";
  text += "rank  pp_rank  tp_rank  rdp_rank  dp_rank  mp_rank\n";
  auto column = [&](int value, size_t width) {
    std::string digits = std::to_string(value);
    text += std::string(width - std::min(width, digits.size()), ' ') + digits;
  };
  for (int rank = 0; rank < grid.worldSize(); ++rank) {
    Coordinate at = grid.coordinate(rank);
    column(rank, 4);
    column(at.pp, 9);
    column(at.tp, 9);
    column(at.rdp, 10);
    column(grid.dpRank(rank), 9);
    column(grid.mpRank(rank), 9);
    text += '\n';
  }
  for (GroupKind kind : allGroupKinds) {
    std::string line(groupKindName(kind));
    for (const std::vector<int> &instance : grid.groups(kind)) {
      line += " {";
      for (size_t i = 0; i < instance.size(); ++i)
        line += (i ? "," : "") + std::to_string(instance[i]);
      line += '}';
    }
    text += line + '\n';
  }
  return text;
}
