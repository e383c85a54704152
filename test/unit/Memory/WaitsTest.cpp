//===- WaitsTest.cpp - Tests of waits between commands --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Memory/Waits.h"

#include <gtest/gtest.h>

#include <random>

namespace smp::memory {
namespace {

ByteRange range(int64_t begin, int64_t end, int space = 0) {
  return {space, begin, end};
}

TEST(Waits, ReadAfterWrite) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8)}},
                                         {{range(4, 12)}, {}}};
  EXPECT_EQ(planWaits(commands), (Waits{{}, {0}}));
}

TEST(Waits, WriteAfterReadIsReuse) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8)}},
                                         {{range(0, 8)}, {range(8, 16)}},
                                         {{range(0, 8)}, {range(16, 24)}},
                                         {{}, {range(0, 4)}}};
  // Both readers; the write before them is implied.
  EXPECT_EQ(planWaits(commands), (Waits{{}, {0}, {0}, {1, 2}}));
}

TEST(Waits, WriteAfterWrite) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8)}},
                                         {{}, {range(7, 9)}}};
  EXPECT_EQ(planWaits(commands), (Waits{{}, {0}}));
}

TEST(Waits, DisjointRangesAndSpacesAreFree) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8)}},
                                         {{}, {range(8, 16)}},
                                         {{}, {range(0, 8, 1)}},
                                         {{range(16, 99)}, {}},
                                         {{}, {range(3, 3)}}};
  EXPECT_EQ(planWaits(commands), Waits(5));
}

TEST(Waits, InPlaceCommandDoesNotWaitForItself) {
  std::vector<CommandAccess> commands = {{{range(0, 8)}, {range(0, 8)}},
                                         {{range(0, 8)}, {range(0, 8)}}};
  EXPECT_EQ(planWaits(commands), (Waits{{}, {0}}));
}

TEST(Waits, TransitiveWaitsAreLeftOut) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8)}},
                                         {{range(0, 8)}, {range(8, 16)}},
                                         {{range(0, 16)}, {}}};
  EXPECT_EQ(planWaits(commands), (Waits{{}, {0}, {1}}));
}

TEST(Waits, ExplicitOrderIsKept) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8)}},
                                         {{}, {range(8, 16)}, {0}},
                                         {{}, {range(16, 24)}, {0, 1}}};
  EXPECT_EQ(planWaits(commands), (Waits{{}, {0}, {1}}));
}

TEST(Waits, ConflictNamesBothCommands) {
  std::vector<CommandAccess> commands = {{{}, {range(0, 8, 2)}},
                                         {{range(4, 12, 2)}, {}}};
  std::optional<Conflict> conflict = findConflict(commands, Waits(2));
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->str(),
            "command 0 writes bytes [4, 8) of space 2 that command 1 reads, "
            "and nothing orders them");
}

/// Random commands over a few small arenas with much reuse.
std::vector<CommandAccess> randomProgram(std::mt19937 &random) {
  std::vector<CommandAccess> commands(1 + random() % 40);
  for (CommandAccess &command : commands) {
    auto add = [&](std::vector<ByteRange> &list, unsigned most) {
      for (unsigned i = random() % (most + 1); i > 0; --i) {
        auto begin = int64_t(random() % 12);
        list.push_back(
            {int(random() % 2), begin, begin + 1 + int64_t(random() % 5)});
      }
    };
    add(command.reads, 3);
    add(command.writes, 1);
  }
  return commands;
}

bool overlap(const std::vector<ByteRange> &a, const std::vector<ByteRange> &b) {
  for (const ByteRange &x : a)
    for (const ByteRange &y : b)
      if (x.space == y.space && x.begin < y.end && y.begin < x.end)
        return true;
  return false;
}

bool conflicts(const CommandAccess &a, const CommandAccess &b) {
  return overlap(a.writes, b.reads) || overlap(a.reads, b.writes) ||
         overlap(a.writes, b.writes);
}

/// Whether all pairs that touch a common byte are ordered, by brute force.
bool allOrdered(const std::vector<CommandAccess> &commands,
                const Waits &waits) {
  size_t count = commands.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (size_t later = 0; later < count; ++later) {
    for (int wait : waits[later]) {
      before[later][wait] = true;
      for (size_t k = 0; k < count; ++k)
        if (before[wait][k])
          before[later][k] = true;
    }
    for (size_t earlier = 0; earlier < later; ++earlier)
      if (conflicts(commands[earlier], commands[later]) &&
          !before[later][earlier])
        return false;
  }
  return true;
}

TEST(Waits, RandomProgramsAreOrderedByTheFewestWaits) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<CommandAccess> commands = randomProgram(random);
    Waits waits = planWaits(commands);
    ASSERT_TRUE(allOrdered(commands, waits));
    EXPECT_FALSE(findConflict(commands, waits));
    // Each wait is needed, and the checker notices when it is gone.
    for (size_t command = 0; command < waits.size(); ++command)
      for (size_t i = 0; i < waits[command].size(); ++i) {
        Waits fewer = waits;
        fewer[command].erase(fewer[command].begin() + i);
        EXPECT_FALSE(allOrdered(commands, fewer));
        EXPECT_TRUE(findConflict(commands, fewer));
      }
  }
}

// The checker agrees with brute force on waits that are right or wrong.
TEST(Waits, CheckerAgreesWithBruteForce) {
  std::mt19937 random(6);
  int right = 0, wrong = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<CommandAccess> commands = randomProgram(random);
    Waits waits = planWaits(commands);
    for (size_t command = 1; command < waits.size(); ++command) {
      if (random() % 16 == 0)
        waits[command].clear();
      if (random() % 2 == 0)
        waits[command].push_back(int(random() % command));
    }
    bool ordered = allOrdered(commands, waits);
    EXPECT_EQ(ordered, !findConflict(commands, waits).has_value());
    ++(ordered ? right : wrong);
    EXPECT_EQ(allOrdered(commands, reduceWaits(waits)), ordered);
  }
  EXPECT_GT(right, 50);
  EXPECT_GT(wrong, 50);
}

} // namespace
} // namespace smp::memory
