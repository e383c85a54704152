//===- RankGroupsTest.cpp - The published groups, built and used ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worlds.h"
#include "smp/Support/Grid.h"
#include "smp/Support/Json.h"
#include "smp/Support/MappedFile.h"

using namespace smp;
using namespace smp::runtime;
using nlohmann::json;

static json rankCases() {
  for (const char *path : {SMP_SOURCE_DIR "/../shared/cases/ranks.json",
                           SMP_SOURCE_DIR "/test/cases/ranks.json"})
    if (Result<std::string> text = readFile(path))
      return (*parseJson(*text, path))["cases"];
  return {};
}

/// The expected members of the group of `kind` that `rank` is in.
static std::vector<int> expectedMembers(const json &entry, GroupKind kind,
                                        int rank) {
  for (const json &instance : entry["groups"][std::string(groupKindName(kind))])
    for (const json &member : instance)
      if (member == rank)
        return instance.get<std::vector<int>>();
  return {};
}

static void checkGroup(Comm &comm, const std::vector<int> &members, int id) {
  auto group = comm.createGroup(members, id);
  ASSERT_TRUE(group) << group.error().str();
  expectSuccess(comm.wait(comm.barrier(*group)));
  // Each rank is a bit: a sum shows exactly who took part.
  int64_t bits = int64_t{1} << comm.rank(), expected = 0;
  for (int member : members)
    expected |= int64_t{1} << member;
  expectSuccess(comm.wait(comm.allReduce(*group, DataType::I64, &bits, 1)));
  EXPECT_EQ(bits, expected);
  std::vector<int64_t> ranks(group->size());
  ranks[group->rank()] = comm.rank();
  expectSuccess(
      comm.wait(comm.allGather(*group, DataType::I64, ranks.data(), 1)));
  EXPECT_EQ(std::vector<int>(ranks.begin(), ranks.end()), members);
}

TEST(RankGroups, EveryPublishedCase) {
  json cases = rankCases();
  ASSERT_GE(cases.size(), 14u);
  forEachWorld([&](Comm &comm) {
    int id = 1;
    for (const json &entry : cases) {
      int pp = entry["pp"], tp = entry["tp"], rdp = entry["rdp"];
      id += 8;
      if (pp * tp * rdp != comm.size())
        continue;
      auto grid =
          Grid::create(std::string(entry["placement"]), pp, tp, comm.size());
      ASSERT_TRUE(grid);
      for (GroupKind kind : allGroupKinds) {
        if (kind == GroupKind::World)
          continue;
        std::vector<int> members = grid->members(kind, comm.rank());
        EXPECT_EQ(members, expectedMembers(entry, kind, comm.rank()));
        checkGroup(comm, members, id + static_cast<int>(kind));
      }
    }
  });
}
