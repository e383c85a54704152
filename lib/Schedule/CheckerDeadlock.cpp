//===- CheckerDeadlock.cpp - Can a schedule block -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meetings.h"

#include <algorithm>

namespace smp::schedule {

namespace {

/// Runs the lists to the fixpoint under the strictest model of Checker.h. Every
/// condition, once true, stays true, so one execution stands for all.
class Simulation {
public:
  explicit Simulation(const std::vector<RankList> &lists)
      : meetings(lists), pending(meetings.size()), started(meetings.size()),
        complete(meetings.size()), before(meetings.size()),
        after(meetings.size()) {
    for (int rank = 0; rank < static_cast<int>(lists.size()); ++rank) {
      std::map<std::pair<ActionKind, int>, int> tail;
      for (int i = 0; i < meetings.sizeOf(rank); ++i) {
        const Action &action = lists[rank].actions[i];
        int self = meetings.number({rank, i});
        for (int wait : action.waits)
          addOrder(meetings.number({rank, wait}), self);
        auto [last, first] = tail.try_emplace({action.kind, action.peer}, self);
        if (!first)
          addOrder(last->second, self);
        last->second = self;
      }
    }
  }

  std::optional<Deadlock> run() {
    for (int a = 0; a < meetings.size(); ++a)
      if (pending[a] == 0)
        ready.push_back(a);
    int finished = 0;
    while (!ready.empty()) {
      int action = ready.back();
      ready.pop_back();
      started[action] = true;
      finished += meet(action);
    }
    if (finished == meetings.size())
      return std::nullopt;
    return Deadlock{findCycle()};
  }

private:
  void addOrder(int earlier, int later) {
    before[later].push_back(earlier);
    after[earlier].push_back(later);
    ++pending[later];
  }

  /// Completes a started action with those it meets, once all have started.
  int meet(int action) {
    const std::vector<int> &others = meetings.partners(action);
    bool all =
        std::ranges::all_of(others, [&](int other) { return started[other]; });
    if (!all)
      return 0;
    finish(action);
    for (int other : others)
      finish(other);
    return 1 + static_cast<int>(others.size());
  }

  void finish(int action) {
    complete[action] = true;
    for (int next : after[action])
      if (--pending[next] == 0)
        ready.push_back(next);
  }

  /// An action without which `action` cannot complete and that is incomplete.
  int blockerOf(int action) const {
    for (int earlier : before[action])
      if (!complete[earlier])
        return earlier;
    for (int other : meetings.partners(action))
      if (!started[other])
        return other;
    return action;
  }

  std::vector<ActionRef> findCycle() const {
    int action = 0;
    while (complete[action])
      ++action;
    std::vector<int> path, position(meetings.size(), -1);
    while (position[action] < 0) {
      position[action] = static_cast<int>(path.size());
      path.push_back(action);
      action = blockerOf(action);
    }
    std::vector<ActionRef> cycle;
    for (size_t i = position[action]; i < path.size(); ++i)
      cycle.push_back(meetings.ref(path[i]));
    return cycle;
  }

  Meetings meetings;
  std::vector<int> pending;
  std::vector<bool> started, complete;
  std::vector<std::vector<int>> before, after;
  std::vector<int> ready;
};

} // namespace

std::optional<Deadlock> findDeadlock(const std::vector<RankList> &lists) {
  return Simulation(lists).run();
}

Error describe(const ChunkGraph &graph, const std::vector<RankList> &lists,
               const Deadlock &deadlock) {
  auto name = [&](ActionRef ref) {
    const Action &action = lists[ref.rank].actions[ref.action];
    return "rank " + std::to_string(ref.rank) + " action " +
           std::to_string(ref.action) + " (" + describe(graph, action) + ")";
  };
  const std::vector<ActionRef> &cycle = deadlock.cycle;
  auto other = std::ranges::find_if(
      cycle, [&](ActionRef ref) { return ref.rank != cycle.front().rank; });
  if (other == cycle.end())
    other = cycle.end() - 1;
  std::string note;
  for (ActionRef ref : cycle)
    note += name(ref) + " waits for ";
  note += name(cycle.front());
  return {"expects a schedule that cannot block, got one in which " +
              name(cycle.front()) + " and " + name(*other) +
              " wait for each other",
          note};
}

} // namespace smp::schedule
