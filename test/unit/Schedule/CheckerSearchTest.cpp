//===- CheckerSearchTest.cpp - The checker against a state search ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An independent judge: it walks through every state that an execution can
// reach. It shares no code with the checker and derives what a launch reads and
// writes from the arenas' meaning on its own.
//
//===----------------------------------------------------------------------===//

#include "ScheduleTesting.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace smp::schedule {
namespace {

using namespace testing;

/// All actions of all ranks in one array; partner of a transfer by channel.
struct Model {
  struct Node {
    int rank = 0;
    const Action *action = nullptr;
    std::vector<int> waits;
    int partner = -1;
    std::pair<int, int> queue;
    std::vector<std::tuple<int, int64_t, bool>> slots; // arena, slot, write
  };
  std::vector<Node> nodes;

  Model(const ChunkGraph &graph, const std::vector<RankList> &lists) {
    std::map<std::tuple<int, int, int>, int> sends; // from, to, k
    std::map<std::pair<int, int>, int> sent, received;
    for (int rank = 0; rank < int(lists.size()); ++rank) {
      int base = int(nodes.size());
      for (const Action &action : lists[rank].actions) {
        Node node{rank, &action, {}, -1, {int(action.kind), action.peer}, {}};
        for (int wait : action.waits)
          node.waits.push_back(base + wait);
        for (SlotUse use : action.slots)
          node.slots.emplace_back(
              use.arena, use.slot,
              writes(graph, action, lists[rank].arenas[use.arena].key));
        if (action.kind == ActionKind::Send)
          sends[{rank, action.peer, sent[{rank, action.peer}]++}] =
              int(nodes.size());
        nodes.push_back(std::move(node));
      }
    }
    for (int n = 0; n < int(nodes.size()); ++n)
      if (nodes[n].action->kind == ActionKind::Recv) {
        std::pair<int, int> channel = {nodes[n].action->peer, nodes[n].rank};
        nodes[n].partner =
            sends[{channel.first, channel.second, received[channel]++}];
        nodes[nodes[n].partner].partner = n;
      }
  }

  static bool writes(const ChunkGraph &graph, const Action &action,
                     ArenaKey key) {
    if (action.kind != ActionKind::Launch)
      return action.kind != ActionKind::Send;
    if (key.kind == ArenaKind::Stash)
      return action.program == Program::Forward;
    if (key.kind == ArenaKind::Input)
      return false;
    const Edge &edge = graph.edges[key.index];
    return edge.from == action.chunk && edge.programs.contains(action.program);
  }
};

using State = std::string;

/// Explores the states reached by `moves`; false when it becomes too large.
/// `visit` returns false to stop with the answer found.
template <typename Moves, typename Visit>
bool explore(State first, Moves moves, Visit visit) {
  std::unordered_set<State> seen = {first};
  std::vector<State> stack = {std::move(first)};
  while (!stack.empty()) {
    State state = std::move(stack.back());
    stack.pop_back();
    std::vector<State> next = moves(state);
    if (!visit(state, next))
      return true;
    for (State &other : next)
      if (seen.insert(other).second)
        stack.push_back(std::move(other));
    if (seen.size() > 4'000'000)
      return false;
  }
  return true;
}

/// Whether some execution under queues, waits and rendezvous gets stuck.
std::optional<bool> searchDeadlock(const Model &model) {
  int count = int(model.nodes.size());
  auto canStart = [&](const State &state, int n) {
    const Model::Node &node = model.nodes[n];
    for (int wait : node.waits)
      if (!state[wait])
        return false;
    for (int other = 0; other < n; ++other)
      if (model.nodes[other].rank == node.rank &&
          model.nodes[other].queue == node.queue && !state[other])
        return false;
    return true;
  };
  auto moves = [&](const State &state) {
    std::vector<State> next;
    for (int n = 0; n < count; ++n) {
      if (state[n] || !canStart(state, n))
        continue;
      State after = state;
      const Model::Node &node = model.nodes[n];
      bool barrier = node.action->kind == ActionKind::Launch &&
                     isRankProgram(node.action->program);
      bool met = true;
      for (int other = 0; other < count; ++other)
        if (other == node.partner ||
            (barrier && model.nodes[other].action->kind == ActionKind::Launch &&
             model.nodes[other].action->program == node.action->program)) {
          met &= canStart(state, other);
          after[other] = 1;
        }
      after[n] = 1;
      if (met)
        next.push_back(std::move(after));
    }
    return next;
  };
  bool stuck = false;
  bool finished =
      explore(State(count, 0), moves, [&](const State &state, auto &next) {
        stuck |= next.empty() && state.find('\0') != State::npos;
        return !stuck;
      });
  return finished ? std::optional(stuck) : std::nullopt;
}

bool conflict(const Model::Node &a, const Model::Node &b) {
  if (a.rank != b.rank)
    return false;
  if (a.action->kind == ActionKind::Launch &&
      b.action->kind == ActionKind::Launch)
    return true;
  for (auto [arena, slot, write] : a.slots)
    for (auto [otherArena, otherSlot, otherWrite] : b.slots)
      if (arena == otherArena && slot == otherSlot && (write || otherWrite))
        return true;
  return false;
}

/// Whether some read sees another microbatch's value. As nothing races, a slot
/// holds what was written by the finished write that no other one follows.
bool readsWrongValue(const Model &model,
                     const std::vector<std::vector<bool>> &follows) {
  int count = int(model.nodes.size());
  for (int reader = 0; reader < count; ++reader)
    for (auto [arena, slot, write] : model.nodes[reader].slots) {
      if (write)
        continue;
      int last = -1;
      for (int n = 0; n < count; ++n)
        for (auto [otherArena, otherSlot, otherWrite] : model.nodes[n].slots)
          if (otherWrite && model.nodes[n].rank == model.nodes[reader].rank &&
              otherArena == arena && otherSlot == slot && follows[reader][n] &&
              (last < 0 || follows[n][last]))
            last = n;
      if (last < 0 || model.nodes[last].action->microbatch !=
                          model.nodes[reader].action->microbatch)
        return true;
    }
  return false;
}

/// Whether some execution, ordered by waits and rendezvous alone, touches a
/// slot while somebody else uses it, or reads another microbatch's value.
std::optional<bool> searchRaces(const Model &model) {
  int count = int(model.nodes.size());
  auto started = [&](const State &state, int n) {
    return std::all_of(model.nodes[n].waits.begin(), model.nodes[n].waits.end(),
                       [&](int wait) { return state[wait]; });
  };
  auto moves = [&](const State &state) {
    std::vector<State> next;
    for (int n = 0; n < count; ++n) {
      int partner = model.nodes[n].partner;
      if (state[n] || !started(state, n) ||
          (partner >= 0 && !started(state, partner)))
        continue;
      next.push_back(state);
      next.back()[n] = 1;
    }
    return next;
  };
  // Whether one may run when the other is finished, by reader and writer.
  std::vector<std::vector<bool>> follows(count, std::vector<bool>(count));
  bool raced = false;
  auto visit = [&](const State &state, auto &) {
    std::vector<int> running;
    for (int n = 0; n < count; ++n)
      if (!state[n] && started(state, n))
        running.push_back(n);
    for (int n : running) {
      for (int other = 0; other < count; ++other)
        if (state[other])
          follows[n][other] = true;
      for (int other : running)
        raced |= n != other && conflict(model.nodes[n], model.nodes[other]);
    }
    return !raced;
  };
  if (!explore(State(count, 0), moves, visit))
    return std::nullopt;
  return raced || readsWrongValue(model, follows);
}

struct Tally {
  int agreed = 0, blocked = 0, raced = 0, sound = 0, skipped = 0;
};

void compare(const ChunkGraph &graph, const std::vector<RankList> &lists,
             Tally &tally) {
  if (!checkStructure(graph, lists))
    return;
  Model model(graph, lists);
  std::optional<bool> blocks = searchDeadlock(model);
  if (!blocks) {
    ++tally.skipped;
    return;
  }
  ASSERT_EQ(findDeadlock(lists).has_value(), *blocks);
  if (*blocks) {
    ++tally.blocked;
    ++tally.agreed;
    return;
  }
  std::optional<bool> races = searchRaces(model);
  if (!races) {
    ++tally.skipped;
    return;
  }
  Status slots = checkSlots(graph, lists);
  ASSERT_EQ(!slots, *races) << (slots ? "" : slots.error().str());
  ++(*races ? tally.raced : tally.sound);
  ++tally.agreed;
}

TEST(CheckerSearch, BuiltInSchedules) {
  Tally tally;
  for (const std::vector<int> &map :
       {std::vector<int>{0}, std::vector<int>{0, 1}, std::vector<int>{0, 1, 0},
        std::vector<int>{0, 1, 2}})
    for (ScheduleKind kind : allKinds)
      for (int64_t microbatches = 1; microbatches <= 4; ++microbatches) {
        ChunkGraph graph = makeChain(map);
        auto ranks = lowered(graph, kind, microbatches);
        compare(graph, trainLists(ranks), tally);
      }
  EXPECT_EQ(tally.skipped, 0);
  EXPECT_EQ(tally.sound, 48);
}

// Each deleted wait is reported, or the search shows that nothing needs it: the
// other ranks happen to say the same. Few are of that kind.
TEST(CheckerSearch, DeletedWaits) {
  Tally tally;
  for (const std::vector<int> &map :
       {std::vector<int>{0, 1}, std::vector<int>{0, 1, 0}})
    for (ScheduleKind kind : allKinds) {
      ChunkGraph graph = makeChain(map);
      auto ranks = lowered(graph, kind, map.size() > 2 ? 2 : 3, 1,
                           {.overlap = map.size() <= 2});
      for (RankSchedules &rank : ranks)
        for (Action &action : rank.train)
          for (size_t i = 0; i < action.waits.size(); ++i) {
            std::vector<int> waits = action.waits;
            action.waits.erase(action.waits.begin() + int(i));
            compare(graph, trainLists(ranks), tally);
            action.waits = waits;
          }
    }
  EXPECT_GT(tally.raced, 200);
  EXPECT_LT(tally.sound, 20);
  EXPECT_EQ(tally.blocked, 0);
  EXPECT_EQ(tally.skipped, 0);
}

/// Swaps two neighbouring actions of a list, waits included.
void swapActions(std::vector<Action> &list, int at) {
  std::swap(list[at], list[at + 1]);
  for (Action &action : list) {
    for (int &wait : action.waits)
      wait = wait == at ? at + 1 : wait == at + 1 ? at : wait;
    std::ranges::sort(action.waits);
  }
}

void mutate(std::vector<RankSchedules> &ranks, std::mt19937 &random) {
  RankSchedules &rank = ranks[random() % ranks.size()];
  std::vector<Action> &list = rank.train;
  size_t at = random() % list.size();
  switch (random() % 4) {
  case 0: // a wait less
    if (!list[at].waits.empty())
      list[at].waits.erase(list[at].waits.begin() +
                           random() % list[at].waits.size());
    break;
  case 1: // a wait for something else, often later in the list
    list[at].waits.push_back(int(random() % list.size()));
    break;
  case 2: // another slot
    for (SlotUse &use : list[at].slots)
      if (random() % 2)
        use.slot = int64_t(random() % rank.arenas[use.arena].slots);
    break;
  default: // another order
    if (at + 1 < list.size())
      swapActions(list, int(at));
    break;
  }
}

TEST(CheckerSearch, Mutations) {
  std::mt19937 random(3);
  Tally tally;
  const std::vector<int> maps[] = {{0, 1}, {0, 1, 0}, {0, 1, 2}};
  while (tally.agreed + tally.skipped < 1000) {
    const std::vector<int> &map = maps[random() % 3];
    ChunkGraph graph = makeChain(map);
    if (random() % 3)
      graph.inputs.clear();
    if (random() % 2)
      graph.edges[0].keptByConsumer = {Program::Backward};
    auto microbatches = int64_t(1 + random() % (map.size() > 2 ? 2 : 3));
    auto ranks = lowered(graph, allKinds[random() % 3], microbatches, 1,
                         {.overlap = random() % 2 == 0});
    for (unsigned change = 0; change <= random() % 2; ++change)
      mutate(ranks, random);
    compare(graph, trainLists(ranks), tally);
    if (HasFatalFailure())
      return;
  }
  // Each verdict comes up often enough to mean something.
  EXPECT_GT(tally.blocked, 100);
  EXPECT_GT(tally.raced, 100);
  EXPECT_GT(tally.sound, 100);
  EXPECT_EQ(tally.skipped, 0);
}

} // namespace
} // namespace smp::schedule
