//===- Grid.h - Ranks, coordinates and groups -------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The world is a grid of three axes: pipeline (pp), tensor (tp) and reduced
// data parallel (rdp). A placement string orders them: it is a mixed-radix
// number whose rightmost letter varies fastest over neighbouring ranks. This
// value type answers every question about ranks and groups, for compiler,
// interpreter and runtime alike.
//
//   Grid for placement "DPT", pp 2, tp 2, 8 ranks (rdp 2)
//     rank      0 1 2 3 4 5 6 7
//     pp_rank   0 0 1 1 0 0 1 1
//     tp_rank   0 1 0 1 0 1 0 1
//     rdp_rank  0 0 0 0 1 1 1 1
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_GRID_H
#define SMP_SUPPORT_GRID_H

#include "smp/Support/Result.h"
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace smp {

enum class Axis { PP, TP, RDP };

/// "pp", "tp", "rdp".
std::string_view axisName(Axis axis);
Result<Axis> parseAxis(std::string_view name);

/// "cluster" (DPT), "spread" (TPD) or a permutation of the letters D, P, T, to
/// the permutation.
Result<std::string> canonicalPlacement(std::string_view placement);

/// A position in the grid.
struct Coordinate {
  int pp = 0, tp = 0, rdp = 0;
  int operator[](Axis axis) const {
    return axis == Axis::PP ? pp : axis == Axis::TP ? tp : rdp;
  }
  bool operator==(const Coordinate &) const = default;
};

/// The groups of the SMP vocabulary: which coordinates their members share.
enum class GroupKind { World, PP, TP, RDP, DP, MP };
inline constexpr std::array<GroupKind, 6> allGroupKinds = {
    GroupKind::World, GroupKind::PP, GroupKind::TP,
    GroupKind::RDP,   GroupKind::DP, GroupKind::MP};
std::string_view groupKindName(GroupKind kind);

/// A group as an ordered list of axes, each possibly restricted to some
/// coordinates: `pp{0,3}` is {PP} with members {0, 3}. The members of one
/// instance vary over `axes` and share all other coordinates.
struct AxisGroup {
  struct Member {
    Axis axis;
    std::vector<int> coordinates = {}; ///< empty: the whole axis
  };
  std::vector<Member> axes;

  /// "rdp", "pp{0,3}", "tp,rdp", or "" for the group of one rank.
  std::string str() const;
  static Result<AxisGroup> parse(std::string_view text);
};

class Grid {
public:
  /// Fails if pp·tp does not divide `worldSize`, giving the three numbers.
  static Result<Grid> create(std::string_view placement, int pp, int tp,
                             int worldSize);

  int worldSize() const { return ppSize * tpSize * rdpSize; }
  int pp() const { return ppSize; }
  int tp() const { return tpSize; }
  int rdp() const { return rdpSize; }
  int dp() const { return tpSize * rdpSize; }
  int mp() const { return ppSize * tpSize; }
  int size(Axis axis) const;
  const std::string &placement() const { return letters; }

  Coordinate coordinate(int rank) const;
  int rank(Coordinate coordinate) const;

  int ppRank(int rank) const { return coordinate(rank).pp; }
  int tpRank(int rank) const { return coordinate(rank).tp; }
  int rdpRank(int rank) const { return coordinate(rank).rdp; }
  int dpRank(int rank) const { return position(GroupKind::DP, rank); }
  int mpRank(int rank) const { return position(GroupKind::MP, rank); }

  /// The members, by ascending global rank, of the instance that `rank` is in.
  std::vector<int> members(GroupKind kind, int rank) const;
  /// The same for a group of axes; empty if a restriction excludes `rank`.
  std::vector<int> members(const AxisGroup &group, int rank) const;
  /// All instances of a kind, ordered by their first member.
  std::vector<std::vector<int>> groups(GroupKind kind) const;
  /// Position of `rank` in its instance.
  int position(GroupKind kind, int rank) const;
  int groupSize(GroupKind kind) const;

  bool operator==(const Grid &) const = default;

private:
  Grid(std::string letters, int pp, int tp, int rdp)
      : letters(std::move(letters)), ppSize(pp), tpSize(tp), rdpSize(rdp) {}
  std::string letters;
  int ppSize, tpSize, rdpSize;
};

/// The axes of a kind, as `AxisGroup`.
AxisGroup axesOf(GroupKind kind);

/// A table of all ranks (pp, tp, rdp, dp and mp rank) and of all groups.
std::string printRanks(const Grid &grid);

} // namespace smp

#endif // SMP_SUPPORT_GRID_H
