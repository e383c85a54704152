//===- CheckerSlots.cpp - Are slots free when they are written ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meetings.h"

#include <algorithm>

namespace smp::schedule {

namespace {

/// What every execution does in the same order. Each action is two events, its
/// start and its completion; waits and meetings order them, queues do not.
class HappensBefore {
public:
  explicit HappensBefore(const std::vector<RankList> &lists)
      : meetings(lists), predecessors(eventCount()), order(eventCount()),
        stamp(eventCount()) {
    for (int rank = 0; rank < static_cast<int>(lists.size()); ++rank)
      for (int i = 0; i < meetings.sizeOf(rank); ++i) {
        const Action &action = lists[rank].actions[i];
        int self = meetings.number({rank, i});
        for (int wait : action.waits)
          predecessors[startOf(self)].push_back(
              completionOf(meetings.number({rank, wait})));
        predecessors[completionOf(self)].push_back(startOf(self));
        // Rank programs need not synchronise: they are not counted on.
        if (action.kind != ActionKind::Launch)
          for (int other : meetings.partners(self))
            predecessors[completionOf(self)].push_back(startOf(other));
      }
    sort();
  }

  /// A total order of starts that agrees with every execution.
  int place(ActionRef action) const {
    return order[startOf(meetings.number(action))];
  }

  /// Whether `first` is complete before `second` starts, always. Both are of
  /// one rank, and nearly always its own waits say so: those are tried first.
  bool ordered(ActionRef first, ActionRef second) {
    return reaches(first, second, /*ownRankOnly=*/true) ||
           reaches(first, second, /*ownRankOnly=*/false);
  }

private:
  size_t eventCount() const { return 2 * static_cast<size_t>(meetings.size()); }
  static int startOf(int action) { return 2 * action; }
  static int completionOf(int action) { return 2 * action + 1; }

  bool reaches(ActionRef first, ActionRef second, bool ownRankOnly) {
    int goal = completionOf(meetings.number(first));
    int lowest = ownRankOnly ? startOf(meetings.number({first.rank, 0})) : 0;
    std::vector<int> pending = {startOf(meetings.number(second))};
    int highest = ownRankOnly ? lowest + 2 * meetings.sizeOf(first.rank)
                              : static_cast<int>(predecessors.size());
    ++epoch;
    while (!pending.empty()) {
      int event = pending.back();
      pending.pop_back();
      for (int before : predecessors[event]) {
        if (before == goal)
          return true;
        if (order[before] <= order[goal] || stamp[before] == epoch ||
            before < lowest || before >= highest)
          continue;
        stamp[before] = epoch;
        pending.push_back(before);
      }
    }
    return false;
  }

  void sort() {
    std::vector<int> pending(predecessors.size());
    std::vector<std::vector<int>> successors(predecessors.size());
    for (size_t event = 0; event < predecessors.size(); ++event) {
      pending[event] = static_cast<int>(predecessors[event].size());
      for (int before : predecessors[event])
        successors[before].push_back(static_cast<int>(event));
    }
    std::vector<int> queue;
    for (size_t event = 0; event < pending.size(); ++event)
      if (pending[event] == 0)
        queue.push_back(static_cast<int>(event));
    // Breadth first: neighbours in time get neighbouring places, which keeps
    // the searches of `ordered` short.
    for (size_t next = 0; next < queue.size(); ++next) {
      order[queue[next]] = static_cast<int>(next);
      for (int event : successors[queue[next]])
        if (--pending[event] == 0)
          queue.push_back(event);
    }
  }

  Meetings meetings;
  std::vector<std::vector<int>> predecessors;
  std::vector<int> order; ///< by event
  std::vector<int> stamp;
  int epoch = 0;
};

struct SlotAccess {
  ActionRef action;
  bool write = false;
};

/// Checks the slots of one rank.
class SlotChecker {
public:
  SlotChecker(const ChunkGraph &graph, const std::vector<RankList> &lists,
              int rank, HappensBefore &happensBefore)
      : graph(graph), list(lists[rank]), rank(rank),
        happensBefore(happensBefore) {}

  Status run() {
    SMP_RETURN_IF_ERROR(checkLaunches());
    std::map<std::pair<int, int64_t>, std::vector<SlotAccess>> bySlot;
    for (size_t i = 0; i < list.actions.size(); ++i)
      collect(static_cast<int>(i), bySlot);
    for (auto &[slot, accesses] : bySlot) {
      std::ranges::sort(accesses, [&](const SlotAccess &a,
                                      const SlotAccess &b) {
        return happensBefore.place(a.action) < happensBefore.place(b.action);
      });
      SMP_RETURN_IF_ERROR(checkSlot({slot.first, slot.second}, accesses));
    }
    return {};
  }

private:
  Status checkLaunches() {
    std::optional<ActionRef> previous;
    for (size_t i = 0; i < list.actions.size(); ++i) {
      if (list.actions[i].kind != ActionKind::Launch)
        continue;
      ActionRef self = {rank, static_cast<int>(i)};
      if (previous && !happensBefore.ordered(*previous, self))
        return Error{
            "expects the launches of a rank one after the other, got " +
                name(self) + " that does not wait for " + name(*previous),
            "launches share workspace and gradients"};
      previous = self;
    }
    return {};
  }

  void
  collect(int index,
          std::map<std::pair<int, int64_t>, std::vector<SlotAccess>> &bySlot) {
    const Action &action = list.actions[index];
    std::vector<Access> accesses;
    if (action.kind == ActionKind::Launch)
      accesses = accessesOf(graph, action.program, action.chunk);
    for (SlotUse use : action.slots) {
      bool write =
          action.kind == ActionKind::Recv || action.kind == ActionKind::Load;
      for (const Access &access : accesses)
        if (access.arena == list.arenas[use.arena].key)
          write = access.write;
      bySlot[{use.arena, use.slot}].push_back({{rank, index}, write});
    }
  }

  Status checkSlot(SlotUse slot, const std::vector<SlotAccess> &accesses) {
    std::optional<ActionRef> writer;
    std::vector<ActionRef> users; // the writer, or its readers once there are
    for (const SlotAccess &access : accesses) {
      if (access.write) {
        for (ActionRef user : users)
          if (!happensBefore.ordered(user, access.action))
            return Error{"expects " + name(slot) +
                         " to be free before it is written, got " +
                         name(access.action) + " that does not wait for " +
                         name(user)};
        writer = access.action;
        users = {access.action};
        continue;
      }
      if (!writer || !happensBefore.ordered(*writer, access.action) ||
          microbatch(*writer) != microbatch(access.action))
        return Error{"expects " + name(slot) +
                     " to hold the value that is read, got " +
                     name(access.action) + " after " +
                     (writer ? name(*writer) : "nothing that wrote it")};
      if (users.size() == 1 && users.front() == *writer)
        users.clear();
      users.push_back(access.action);
    }
    return {};
  }

  int64_t microbatch(ActionRef ref) const {
    return list.actions[ref.action].microbatch;
  }
  std::string name(ActionRef ref) const {
    return "rank " + std::to_string(rank) + " action " +
           std::to_string(ref.action) + " (" +
           describe(graph, list.actions[ref.action]) + ")";
  }
  std::string name(SlotUse slot) const {
    return "slot " + std::to_string(slot.slot) + " of '" +
           arenaName(graph, list.arenas[slot.arena].key) + "'";
  }

  const ChunkGraph &graph;
  const RankList &list;
  int rank;
  HappensBefore &happensBefore;
};

} // namespace

Status checkSlots(const ChunkGraph &graph, const std::vector<RankList> &lists) {
  HappensBefore happensBefore(lists);
  for (int rank = 0; rank < static_cast<int>(lists.size()); ++rank)
    SMP_RETURN_IF_ERROR(SlotChecker(graph, lists, rank, happensBefore).run());
  return {};
}

} // namespace smp::schedule
