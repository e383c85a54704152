//===- JobCheckerTest.cpp - Deleted waits are found -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Job/JobChecker.h"
#include "Fixtures/OrderOracle.h"
#include "Fixtures/RegressionJob.h"
#include "smp/runtime/Job/JobReader.h"

#include <gtest/gtest.h>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::test;

namespace {

struct Loaded {
  Job job;
  std::vector<RankJob> ranks;
};

Loaded load(const RegressionShape &shape) {
  Loaded loaded;
  Result<Job> job = readJob(writeJob(makeRegressionJob(shape), "checked"));
  EXPECT_TRUE(bool(job)) << job.error().str();
  loaded.job = *job;
  for (unsigned rank = 0; rank < shape.pp; ++rank)
    loaded.ranks.push_back(*readRankJob(loaded.job, rank));
  return loaded;
}

/// Deletes each wait of `waits` in turn and compares both answers.
void deleteWaits(const Loaded &loaded, const RankJob &rank,
                 std::vector<unsigned> &waits, int &reported, int &redundant) {
  OrderOracle oracle(loaded.job, rank, rank.train);
  for (size_t i = 0; i < waits.size(); ++i) {
    std::vector<unsigned> saved = waits;
    waits.erase(waits.begin() + long(i));
    bool found = !findConflicts(loaded.job, rank, rank.train).empty();
    EXPECT_EQ(found, !oracle.unordered().empty());
    ++(found ? reported : redundant);
    waits = saved;
  }
}

} // namespace

TEST(JobCheckerTest, AcceptsTheTestJob) {
  for (unsigned pp : {1u, 2u})
    for (bool oneByOne : {false, true}) {
      RegressionShape shape;
      shape.pp = pp;
      shape.oneByOne = oneByOne;
      Loaded loaded = load(shape);
      for (const RankJob &rank : loaded.ranks)
        for (const Schedule *schedule :
             {&rank.train, &rank.evaluate, &rank.predict})
          for (const Conflict &conflict :
               findConflicts(loaded.job, rank, *schedule))
            ADD_FAILURE() << conflict.str(loaded.job, rank, *schedule);
    }
}

TEST(JobCheckerTest, ReportsDeletedWaitsOrTheyAreRedundant) {
  RegressionShape shape;
  shape.pp = 2;
  Loaded loaded = load(shape);
  int reported = 0, redundant = 0;
  for (RankJob &rank : loaded.ranks) {
    for (Action &action : rank.train.actions)
      deleteWaits(loaded, rank, action.waits, reported, redundant);
    for (Program &program : rank.programs)
      for (Command &command : program.commands)
        deleteWaits(loaded, rank, command.waits, reported, redundant);
  }
  EXPECT_GT(reported, 15);
  EXPECT_GT(redundant, 0); // waits of programs that train does not launch
}

TEST(JobCheckerTest, NamesBothSides) {
  RegressionShape shape;
  shape.pp = 2;
  Loaded loaded = load(shape);
  RankJob &rank = loaded.ranks[1];
  for (Program &program : rank.programs)
    if (program.name == "forward")
      program.commands[1].waits.clear();
  std::vector<Conflict> conflicts = findConflicts(loaded.job, rank, rank.train);
  ASSERT_EQ(conflicts.size(), 1u);
  std::string text = conflicts[0].str(loaded.job, rank, rank.train);
  EXPECT_NE(text.find("'forward' of chunk 1) command 0 (model.py:7) writes "
                      "and action"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("command 1 (model.py:7) reads 48 bytes at offset 0 of "
                      "arena 'y' in no order"),
            std::string::npos)
      << text;
}

TEST(JobCheckerTest, ChecksAllRanksOfAFolder) {
  RegressionShape shape;
  shape.pp = 2;
  JobFiles files = makeRegressionJob(shape);
  Result<Job> whole = readJob(writeJob(files, "whole"));
  ASSERT_TRUE(bool(whole)) << whole.error().str();
  EXPECT_TRUE(bool(checkOrder(*whole)));

  auto &forward = files["chunk-1.json"]["programs"]["forward"]["commands"];
  forward[1]["waits"] = nlohmann::json::array();
  Result<Job> damaged = readJob(writeJob(files, "damaged"));
  ASSERT_TRUE(bool(damaged)) << damaged.error().str();
  Status status = checkOrder(*damaged);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(
      status.error().message.find("expects waits that order all accesses, "
                                  "got rank 1: action "),
      0u)
      << status.error().str();
  for (const char *side : {"command 0 (model.py:7) writes",
                           "command 1 (model.py:7) reads 48 bytes"})
    EXPECT_NE(status.error().message.find(side), std::string::npos)
        << status.error().str();
}
