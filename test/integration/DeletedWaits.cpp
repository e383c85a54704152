//===- DeletedWaits.cpp - Two judges of a job without one of its waits ----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   SmpDeletedWaits JOB COUNT SEED
//
// Deletes COUNT waits of a compiled job, or all (COUNT 0), one at a time and in
// a seeded order: of commands, in every program of every rank, and of actions,
// in every schedule; those reach from one program to another. After each
// deletion the checker and the brute force of OrderOracle.h must agree: either
// the checker names two accesses that lost their order, or every two that touch
// a common byte still have one and the wait was redundant. Prints how many of
// each as JSON; every disagreement is a line on standard error and exit code 1.
//
//===----------------------------------------------------------------------===//

#include "Fixtures/OrderOracle.h"
#include "smp/runtime/Job/JobChecker.h"
#include "smp/runtime/Job/JobReader.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

using namespace smp;
using namespace smp::runtime;
using smp::runtime::test::OrderOracle;

namespace {

/// One wait: of a command of a program, or of an action of a schedule.
struct Site {
  unsigned rank;
  const Program *program;   ///< null: of an action
  const Schedule *schedule; ///< of the action
  std::vector<unsigned> *waits;
  size_t index;    ///< in `waits`
  unsigned waiter; ///< the command or action that waits

  unsigned waited() const { return (*waits)[index]; }
  std::string str() const {
    return "rank " + std::to_string(rank) + ", " +
           (program ? "command of '" + program->name + "' " : "action ") +
           std::to_string(waiter) + " waits for " + std::to_string(waited());
  }
};

std::vector<Schedule *> schedulesOf(RankJob &rank) {
  return {&rank.train, &rank.evaluate, &rank.predict};
}

std::vector<Site> allWaits(std::vector<RankJob> &ranks) {
  std::vector<Site> sites;
  for (RankJob &rank : ranks) {
    for (Program &program : rank.programs)
      for (unsigned i = 0; i < program.commands.size(); ++i)
        for (size_t w = 0; w < program.commands[i].waits.size(); ++w)
          sites.push_back(
              {rank.rank, &program, nullptr, &program.commands[i].waits, w, i});
    for (Schedule *schedule : schedulesOf(rank))
      for (unsigned i = 0; i < schedule->actions.size(); ++i)
        for (size_t w = 0; w < schedule->actions[i].waits.size(); ++w)
          sites.push_back({rank.rank, nullptr, schedule,
                           &schedule->actions[i].waits, w, i});
  }
  return sites;
}

class Judges {
public:
  Judges(const Job &job, std::vector<RankJob> &ranks) : job(job), ranks(ranks) {
    for (RankJob &rank : ranks)
      for (Schedule *schedule : schedulesOf(rank))
        oracles.try_emplace(schedule, job, rank, *schedule);
  }

  /// Whether both judges accept the job as it is.
  bool acceptWhole() {
    for (RankJob &rank : ranks)
      for (Schedule *schedule : schedulesOf(rank)) {
        expect(findConflicts(job, rank, *schedule).empty(), "a whole job",
               "a conflict");
        expect(oracles.at(schedule).unordered().empty(), "a whole job",
               "an unordered pair");
      }
    return agreed;
  }

  /// Deletes a wait and gives it back; whether the checker reports it.
  bool reports(const Site &site) {
    std::vector<unsigned> saved = *site.waits;
    std::string name = site.str();
    unsigned waited = site.waited();
    site.waits->erase(site.waits->begin() + long(site.index));
    bool reported = false;
    for (Schedule *schedule : schedulesOf(ranks[site.rank]))
      if (site.program || schedule == site.schedule)
        reported |= compare(site, waited, name, *schedule);
    *site.waits = saved;
    return reported;
  }

  bool agreed = true;

private:
  void expect(bool holds, const std::string &expected, const std::string &got) {
    if (!holds)
      std::cerr << "error: expects " << expected << ", got " << got << "\n";
    agreed &= holds;
  }

  bool compare(const Site &site, unsigned waited, const std::string &name,
               const Schedule &schedule) {
    const RankJob &rank = ranks[site.rank];
    const OrderOracle &oracle = oracles.at(&schedule);
    std::vector<Conflict> conflicts = findConflicts(job, rank, schedule);
    std::set<OrderOracle::Pair> lost = oracle.unordered();
    expect(conflicts.empty() == lost.empty(),
           std::to_string(lost.size()) + " unordered pairs without the wait (" +
               name + ")",
           std::to_string(conflicts.size()) + " reports");
    bool named = false;
    for (const Conflict &conflict : conflicts) {
      OrderOracle::Pair pair{{conflict.first.action, conflict.first.command},
                             {conflict.second.action, conflict.second.command}};
      expect(lost.count(pair) &&
                 oracle.bothTouch(pair, conflict.arena, conflict.offset,
                                  conflict.offset + conflict.bytes),
             "accesses without order", conflict.str(job, rank, schedule));
      named |= isBetween(pair, site, waited, schedule);
    }
    // Where the two ends of the wait conflict themselves, they are named.
    bool between = std::ranges::any_of(lost, [&](const auto &pair) {
      return isBetween(pair, site, waited, schedule);
    });
    expect(named == between, "the ends of the wait to be named (" + name + ")",
           "others");
    return !conflicts.empty();
  }

  /// Whether a pair is the one that the deleted wait orders.
  bool isBetween(const OrderOracle::Pair &pair, const Site &site,
                 unsigned waited, const Schedule &schedule) const {
    auto [first, second] = pair;
    if (!site.program)
      return first.action == waited && second.action == site.waiter;
    auto *launch =
        std::get_if<LaunchAction>(&schedule.actions[first.action].work);
    return launch && first.action == second.action &&
           &ranks[site.rank].programs[launch->program] == site.program &&
           first.command == int(waited) && second.command == int(site.waiter);
  }

  const Job &job;
  std::vector<RankJob> &ranks;
  std::map<const Schedule *, OrderOracle> oracles;
};

int fail(const std::string &message) {
  std::cerr << "error: " << message << "\n";
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return fail("expects a job, a count and a seed");
  size_t count = std::stoul(argv[2]);
  std::mt19937 random(unsigned(std::stoul(argv[3])));
  Result<Job> job = readJob(argv[1]);
  if (!job)
    return fail(job.error().str());
  std::vector<RankJob> ranks;
  for (unsigned rank = 0; rank < job->pp; ++rank) {
    Result<RankJob> rankJob = readRankJob(*job, rank);
    if (!rankJob)
      return fail(rankJob.error().str());
    ranks.push_back(std::move(*rankJob));
  }
  Judges judges(*job, ranks);
  if (!judges.acceptWhole())
    return 1;
  std::vector<Site> sites = allWaits(ranks);
  size_t all = sites.size();
  std::shuffle(sites.begin(), sites.end(), random);
  if (count != 0 && sites.size() > count)
    sites.resize(count);
  // Of commands and of actions: {reported, redundant}.
  std::array<size_t, 2> ofCommands = {}, ofActions = {};
  for (const Site &site : sites)
    ++(site.program ? ofCommands : ofActions)[judges.reports(site) ? 0 : 1];
  std::cout << nlohmann::json{{"waits", all},
                              {"commands", ofCommands},
                              {"actions", ofActions}}
            << "\n";
  return judges.agreed ? 0 : 1;
}
