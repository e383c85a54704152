//===- GridTest.cpp - Ranks, coordinates and groups -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Grid.h"
#include "smp/Support/Json.h"
#include "smp/Support/MappedFile.h"
#include <gtest/gtest.h>

using namespace smp;
using nlohmann::json;

/// The shared table where it stands beside the tree, else the copy in it.
static json rankCases() {
  for (const char *path : {SMP_SOURCE_DIR "/../shared/cases/ranks.json",
                           SMP_SOURCE_DIR "/test/cases/ranks.json"})
    if (Result<std::string> text = readFile(path))
      return (*parseJson(*text, path))["cases"];
  return {};
}

TEST(Grid, PublishedTables) {
  json cases = rankCases();
  ASSERT_GE(cases.size(), 14u);
  for (const json &expected : cases) {
    std::string placement = expected["placement"];
    int pp = expected["pp"], tp = expected["tp"], rdp = expected["rdp"];
    SCOPED_TRACE(expected.dump());
    auto grid = Grid::create(placement, pp, tp, pp * tp * rdp);
    ASSERT_TRUE(grid);
    EXPECT_EQ(grid->rdp(), rdp);
    for (int rank = 0; rank < grid->worldSize(); ++rank) {
      EXPECT_EQ(grid->ppRank(rank), expected["pp_rank"][rank]);
      EXPECT_EQ(grid->tpRank(rank), expected["tp_rank"][rank]);
      EXPECT_EQ(grid->rdpRank(rank), expected["rdp_rank"][rank]);
      EXPECT_EQ(grid->dpRank(rank), expected["dp_rank"][rank]);
      EXPECT_EQ(grid->mpRank(rank), expected["mp_rank"][rank]);
      EXPECT_EQ(grid->rank(grid->coordinate(rank)), rank);
    }
    for (GroupKind kind : allGroupKinds) {
      if (kind == GroupKind::World)
        continue;
      EXPECT_EQ(json(grid->groups(kind)),
                expected["groups"][std::string(groupKindName(kind))]);
    }
    if (expected.contains("alias"))
      EXPECT_EQ(*canonicalPlacement(std::string(expected["alias"])), placement);
  }
}

TEST(Grid, SizesAlwaysMultiplyToTheWorld) {
  for (const char *placement : {"DPT", "DTP", "PDT", "PTD", "TDP", "TPD"})
    for (int pp : {1, 2, 3})
      for (int tp : {1, 2, 4})
        for (int rdp : {1, 3}) {
          auto grid = Grid::create(placement, pp, tp, pp * tp * rdp);
          ASSERT_TRUE(grid);
          EXPECT_EQ(grid->mp() * grid->rdp(), grid->worldSize());
          EXPECT_EQ(grid->pp() * grid->dp(), grid->worldSize());
          for (GroupKind kind : allGroupKinds) {
            size_t covered = 0;
            for (const auto &instance : grid->groups(kind)) {
              EXPECT_EQ(static_cast<int>(instance.size()),
                        grid->groupSize(kind));
              covered += instance.size();
            }
            EXPECT_EQ(static_cast<int>(covered), grid->worldSize());
          }
        }
}

TEST(Grid, RestrictedAxisHasOnlyItsCoordinates) {
  auto grid = Grid::create("DPT", 4, 1, 8);
  ASSERT_TRUE(grid);
  auto tied = AxisGroup::parse("pp{0,3}");
  ASSERT_TRUE(tied);
  EXPECT_EQ(tied->str(), "pp{0,3}");
  EXPECT_EQ(grid->members(*tied, 0), (std::vector<int>{0, 3}));
  EXPECT_EQ(grid->members(*tied, 7), (std::vector<int>{4, 7}));
  EXPECT_TRUE(grid->members(*tied, 1).empty());
  auto both = AxisGroup::parse("pp{0,3},rdp");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->str(), "pp{0,3},rdp");
  EXPECT_EQ(grid->members(*both, 3), (std::vector<int>{0, 3, 4, 7}));
  EXPECT_EQ(grid->members(AxisGroup{}, 5), std::vector<int>{5});
}

TEST(Grid, MalformedGroups) {
  for (const char *text : {"xp", "pp{", "pp{}", "pp{0", "pp{0,0}", "pp,pp",
                           "pp,", "pp{-1}", "pp{0}x", ","})
    EXPECT_FALSE(AxisGroup::parse(text)) << text;
}

TEST(Grid, WorldThatDoesNotFit) {
  auto grid = Grid::create("cluster", 2, 2, 6);
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().message,
            "expects a number of ranks that is a multiple of "
            "pipeline_parallel_degree 2 times tensor_parallel_degree 2, got 6 "
            "ranks");
  EXPECT_EQ(grid.error().note, "start 4 ranks for one replica, 8 for two");
  EXPECT_FALSE(Grid::create("cluster", 2, 2, 0));
  EXPECT_FALSE(Grid::create("cluster", 0, 1, 4));
  EXPECT_FALSE(Grid::create("cluster", 1, 0, 4));
  EXPECT_FALSE(Grid::create("cluster", 1 << 30, 1 << 30, 4));
  EXPECT_FALSE(Grid::create("DPD", 1, 1, 4));
  EXPECT_FALSE(Grid::create("", 1, 1, 4));
}

TEST(Grid, PrintedTable) {
  auto grid = Grid::create("spread", 2, 1, 4);
  ASSERT_TRUE(grid);
  EXPECT_EQ(printRanks(*grid),
            "placement TPD, 4 ranks: pp 2, tp 1, rdp 2\n"
            "rank  pp_rank  tp_rank  rdp_rank  dp_rank  mp_rank\n"
            "   0        0        0         0        0        0\n"
            "   1        0        0         1        1        0\n"
            "   2        1        0         0        0        1\n"
            "   3        1        0         1        1        1\n"
            "world {0,1,2,3}\n"
            "pp {0,2} {1,3}\n"
            "tp {0} {1} {2} {3}\n"
            "rdp {0,1} {2,3}\n"
            "dp {0,1} {2,3}\n"
            "mp {0,2} {1,3}\n");
}
