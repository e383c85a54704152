//===- JobCheckerTest.cpp - Deleted waits are found -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Job/JobChecker.h"
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

/// The same question by brute force: every command of every action is a node,
/// every pair is looked at, and the relation is closed by plain search.
class BruteForce {
public:
  BruteForce(const Job &job, const RankJob &rank, const Schedule &schedule)
      : job(job), rank(rank), schedule(schedule) {
    for (unsigned i = 0; i < schedule.actions.size(); ++i)
      addAction(i);
    addEdges();
  }

  bool hasConflict() {
    size_t count = nodes.size();
    std::vector<std::vector<bool>> reach(count,
                                         std::vector<bool>(count, false));
    for (size_t i = 0; i < count; ++i)
      visit(i, reach[i]);
    for (size_t i = 0; i < count; ++i)
      for (size_t j = i + 1; j < count; ++j)
        if (!reach[i][j] && !reach[j][i] && overlap(nodes[i], nodes[j]))
          return true;
    return false;
  }

private:
  struct Touch {
    unsigned arena;
    int64_t begin, end;
    bool write;
  };
  struct Node {
    unsigned action;
    std::vector<Touch> touches;
  };

  void add(Node &node, const Operand &operand, int64_t slot, bool write) {
    int64_t begin = operand.offset;
    if (operand.slotted)
      begin += slot * job.ranks[rank.rank].arenas[operand.arena].stride;
    node.touches.push_back(
        {operand.arena, begin, begin + operand.bytes, write});
  }

  void addAction(unsigned i) {
    const Action &action = schedule.actions[i];
    first.push_back(nodes.size());
    if (auto *launch = std::get_if<LaunchAction>(&action.work)) {
      for (const Command &command : rank.programs[launch->program].commands) {
        Node node{i, {}};
        auto slot = [&](const Operand &operand) {
          return operand.slotted ? launch->slots.at(operand.arena) : 0;
        };
        for (const Operand &operand : command.reads)
          add(node, operand, slot(operand), false);
        for (const Operand &operand : command.writes)
          add(node, operand, slot(operand), true);
        nodes.push_back(node);
      }
    } else if (auto *transfer = std::get_if<TransferAction>(&action.work)) {
      Node node{i, {}};
      add(node, transfer->buffer, transfer->slot, !transfer->send);
      nodes.push_back(node);
    } else {
      const auto &load = std::get<LoadAction>(action.work);
      int64_t stride = job.ranks[rank.rank].arenas[load.arena].stride;
      nodes.push_back({i,
                       {{load.arena, load.slot * stride,
                         load.slot * stride + stride, true}}});
    }
    edges.resize(nodes.size());
  }

  size_t endOf(unsigned action) const {
    return action + 1 < first.size() ? first[action + 1] : nodes.size();
  }
  void orderActions(unsigned before, unsigned after) {
    for (size_t i = first[before]; i < endOf(before); ++i)
      for (size_t j = first[after]; j < endOf(after); ++j)
        edges[i].push_back(j);
  }

  /// Every earlier action of the same queue, and all waits. (An action without
  /// commands would need a node; the test job has none.)
  void addEdges() {
    for (unsigned i = 0; i < schedule.actions.size(); ++i) {
      const Action &action = schedule.actions[i];
      for (unsigned wait : action.waits)
        orderActions(wait, i);
      for (unsigned j = 0; j < i; ++j)
        if (sameQueue(schedule.actions[j], action))
          orderActions(j, i);
      auto *launch = std::get_if<LaunchAction>(&action.work);
      if (!launch)
        continue;
      const auto &commands = rank.programs[launch->program].commands;
      for (unsigned c = 0; c < commands.size(); ++c) {
        for (unsigned wait : commands[c].waits)
          edges[first[i] + wait].push_back(first[i] + c);
        for (unsigned d = 0; d < c; ++d)
          if (commands[c].queue.kind == Queue::Group &&
              commands[d].queue.kind == Queue::Group &&
              commands[c].queue.group == commands[d].queue.group)
            edges[first[i] + d].push_back(first[i] + c);
      }
    }
  }

  static bool sameQueue(const Action &a, const Action &b) {
    if (std::holds_alternative<LaunchAction>(a.work))
      return std::holds_alternative<LaunchAction>(b.work);
    auto *left = std::get_if<TransferAction>(&a.work);
    auto *right = std::get_if<TransferAction>(&b.work);
    return left && right && left->peer == right->peer &&
           left->send == right->send;
  }

  void visit(size_t node, std::vector<bool> &seen) {
    for (size_t next : edges[node])
      if (!seen[next]) {
        seen[next] = true;
        visit(next, seen);
      }
  }

  static bool overlap(const Node &a, const Node &b) {
    for (const Touch &x : a.touches)
      for (const Touch &y : b.touches)
        if (x.arena == y.arena && (x.write || y.write) && x.begin < y.end &&
            y.begin < x.end)
          return true;
    return false;
  }

  const Job &job;
  const RankJob &rank;
  const Schedule &schedule;
  std::vector<Node> nodes;
  std::vector<size_t> first;
  std::vector<std::vector<size_t>> edges;
};

/// Deletes each wait of `waits` in turn and compares both answers.
void deleteWaits(const Loaded &loaded, const RankJob &rank,
                 std::vector<unsigned> &waits, int &reported, int &redundant) {
  for (size_t i = 0; i < waits.size(); ++i) {
    std::vector<unsigned> saved = waits;
    waits.erase(waits.begin() + long(i));
    bool found = !findConflicts(loaded.job, rank, rank.train).empty();
    EXPECT_EQ(found, BruteForce(loaded.job, rank, rank.train).hasConflict());
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
