//===- Lowering.cpp - From orders to transfers, slots and waits -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The timeline of `replay` gives one global order of all launches that agrees
// with every rank order. Each transfer happens in it right after its producer.
// A slot is given away only if, in that order, its last reader is done when the
// new value comes. So the global order is an execution of the result: whatever
// an action waits for comes earlier in it. docs/Schedules.md concludes from
// this that no execution can block.
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/Lowering.h"

#include "smp/Memory/Waits.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace smp::schedule {

std::string describe(const ChunkGraph &graph, const Action &action) {
  std::string microbatch = ", microbatch " + std::to_string(action.microbatch);
  switch (action.kind) {
  case ActionKind::Launch:
    return describe(Step{action.program, action.chunk, action.microbatch});
  case ActionKind::Send:
    return "send of edge '" + graph.edges[action.edge].name + "'" + microbatch +
           ", to rank " + std::to_string(action.peer);
  case ActionKind::Recv:
    return "receive of edge '" + graph.edges[action.edge].name + "'" +
           microbatch + ", from rank " + std::to_string(action.peer);
  case ActionKind::Load:
    return "load of input '" + graph.inputs[action.input].name + "'" +
           microbatch;
  }
  return {};
}

namespace {

/// A launch and its place in the global order.
struct PlacedLaunch {
  Step step;
  int64_t start = 0, end = 0;
  int64_t place = 0; ///< by (start, rank) among all launches
};

/// An action before it has an id. `place` and `phase` order the list: what must
/// be ready for a launch comes before it, its sends after it.
struct Item {
  Action action;
  int64_t launch = 0; ///< position of the launch it belongs to
  int phase = 1;      ///< 0 before the launch, 1 the launch, 2 after it
  int64_t place = 0;  ///< among those of equal position and phase
  std::vector<int> waits = {};
};

/// A value in a slot, from the moment its writer may start until its last
/// reader is done.
struct Tenant {
  ArenaKey key;
  int64_t acquire = 0, release = 0;
  int writer = 0;                ///< item
  std::vector<int> readers = {}; ///< items of launches, in order
  std::vector<int> sends = {};   ///< items
  int64_t slot = 0;
};

/// The index of an arena, which is added when it is new.
int arenaIndex(std::vector<SlottedArena> &arenas, ArenaKey key) {
  auto known = std::ranges::find_if(
      arenas, [&](const SlottedArena &arena) { return arena.key == key; });
  if (known == arenas.end())
    known = arenas.insert(known, {key, 0});
  return static_cast<int>(known - arenas.begin());
}

class RankLowering {
public:
  RankLowering(const ChunkGraph &graph, const LoweringOptions &options,
               int rank, const std::vector<PlacedLaunch> &launches)
      : graph(graph), options(options), rank(rank), launches(launches) {
    for (size_t i = 0; i < launches.size(); ++i) {
      const Step &step = launches[i].step;
      Item item = {.action = {.program = step.program,
                              .chunk = step.chunk,
                              .microbatch = step.microbatch},
                   .launch = static_cast<int64_t>(i)};
      if (i > 0)
        item.waits.push_back(static_cast<int>(i) - 1);
      items.push_back(std::move(item));
    }
  }

  /// A transfer to this rank, in the order in which the peer sends them.
  void addReceive(int edge, int peer, const PlacedLaunch &producer) {
    auto before = std::ranges::lower_bound(launches, producer.place, {},
                                           &PlacedLaunch::place);
    int item = addItem({.action = {.kind = ActionKind::Recv,
                                   .microbatch = producer.step.microbatch,
                                   .peer = peer,
                                   .edge = edge},
                        .launch = before - launches.begin(),
                        .phase = 0,
                        .place = producer.place});
    addTenant({ArenaKind::Boundary, edge}, producer.step,
              options.overlap ? producer.start : 2 * producer.place + 1, item);
  }

  /// Walks the launches; afterwards every value has its readers.
  void collect() {
    for (size_t i = 0; i < launches.size(); ++i) {
      const Step &step = launches[i].step;
      for (const Access &access : accessesOf(graph, step.program, step.chunk)) {
        if (access.write)
          addOutput(static_cast<int>(i), access.arena);
        else
          addRead(static_cast<int>(i), access.arena);
      }
    }
  }

  std::vector<Action> finish(std::vector<SlottedArena> &arenas);

private:
  int addItem(Item item) {
    items.push_back(std::move(item));
    return static_cast<int>(items.size()) - 1;
  }

  /// Counts happen before everything else and load their inputs on their own.
  static int batchPhase(const Step &step) {
    return step.program == Program::Count ? 0 : 1;
  }

  Tenant &addTenant(ArenaKey key, const Step &step, int64_t acquire,
                    int writer) {
    tenantOf[{key, batchPhase(step), step.microbatch}] = tenants.size();
    tenants.push_back({key, acquire, acquire, writer});
    return tenants.back();
  }

  int64_t acquireAt(int launch) const {
    return options.overlap ? launches[launch].start
                           : 2 * launches[launch].place;
  }
  int64_t releaseAt(int launch) const {
    return options.overlap ? launches[launch].end : 2 * launches[launch].place;
  }

  void addOutput(int launch, ArenaKey key) {
    const Step &step = launches[launch].step;
    Tenant &tenant = addTenant(key, step, acquireAt(launch), launch);
    tenant.release = releaseAt(launch);
    if (key.kind != ArenaKind::Boundary)
      return;
    const Edge &edge = graph.edges[key.index];
    int peer = graph.chunks[edge.to].rank;
    if (peer == rank)
      return;
    tenant.sends.push_back(addItem({.action = {.kind = ActionKind::Send,
                                               .microbatch = step.microbatch,
                                               .peer = peer,
                                               .edge = key.index},
                                    .launch = launch,
                                    .phase = 2,
                                    .place = key.index,
                                    .waits = {launch}}));
    // The next launch may run while this one's output is on its way.
    if (!options.overlap)
      tenant.release = 2 * launches[launch].place + 1;
    else if (launch + 1 < static_cast<int>(launches.size()))
      tenant.release = launches[launch + 1].end;
  }

  void addRead(int launch, ArenaKey key) {
    const Step &step = launches[launch].step;
    auto known = tenantOf.find({key, batchPhase(step), step.microbatch});
    // The replay has seen every other writer before this reader.
    size_t index =
        known != tenantOf.end() ? known->second : addLoad(launch, key);
    Tenant &tenant = tenants[index];
    tenant.readers.push_back(launch);
    tenant.release = std::max(tenant.release, releaseAt(launch));
    items[launch].waits.push_back(tenant.writer);
  }

  size_t addLoad(int launch, ArenaKey key) {
    const Step &step = launches[launch].step;
    int before = options.overlap ? std::max(launch - 1, 0) : launch;
    int item = addItem({.action = {.kind = ActionKind::Load,
                                   .microbatch = step.microbatch,
                                   .input = key.index},
                        .launch = before,
                        .phase = 0,
                        .place = launches[launch].place});
    addTenant(key, step, acquireAt(before), item);
    return tenants.size() - 1;
  }

  void assignSlots(std::vector<SlottedArena> &arenas);
  void listSlots(std::vector<SlottedArena> &arenas);
  void occupy(Tenant &tenant, const Tenant *previous);

  const ChunkGraph &graph;
  const LoweringOptions &options;
  int rank;
  const std::vector<PlacedLaunch> &launches;
  std::vector<Item> items; ///< the launches first
  std::vector<Tenant> tenants;
  std::map<std::tuple<ArenaKey, int, int64_t>, size_t> tenantOf;
};

/// The writer of `tenant` waits until everybody is done with `previous`.
void RankLowering::occupy(Tenant &tenant, const Tenant *previous) {
  if (!previous)
    return;
  tenant.slot = previous->slot;
  std::vector<int> &waits = items[tenant.writer].waits;
  waits.push_back(previous->readers.empty() ? previous->writer
                                            : previous->readers.back());
  waits.insert(waits.end(), previous->sends.begin(), previous->sends.end());
}

void RankLowering::assignSlots(std::vector<SlottedArena> &arenas) {
  std::vector<size_t> byTime(tenants.size());
  for (size_t i = 0; i < byTime.size(); ++i)
    byTime[i] = i;
  std::ranges::sort(byTime, [&](size_t a, size_t b) {
    return std::tuple(tenants[a].acquire, a) <
           std::tuple(tenants[b].acquire, b);
  });
  std::map<ArenaKey, std::vector<size_t>> latest; // tenant by slot
  for (size_t index : byTime) {
    Tenant &tenant = tenants[index];
    std::vector<size_t> &slots = latest[tenant.key];
    // The slot that has been free for longest leaves transfers most room.
    auto oldest = std::ranges::min_element(slots, [&](size_t a, size_t b) {
      return tenants[a].release < tenants[b].release;
    });
    if (oldest != slots.end() && tenants[*oldest].release <= tenant.acquire) {
      occupy(tenant, &tenants[*oldest]);
      *oldest = index;
      continue;
    }
    tenant.slot = static_cast<int64_t>(slots.size());
    slots.push_back(index);
  }
  for (const auto &[key, slots] : latest) {
    SlottedArena &arena = arenas[arenaIndex(arenas, key)];
    arena.slots = std::max(arena.slots, static_cast<int64_t>(slots.size()));
  }
}

void RankLowering::listSlots(std::vector<SlottedArena> &arenas) {
  for (const Tenant &tenant : tenants) {
    SlotUse use = {arenaIndex(arenas, tenant.key), tenant.slot};
    items[tenant.writer].action.slots.push_back(use);
    for (const std::vector<int> &users : {tenant.readers, tenant.sends})
      for (int user : users)
        items[user].action.slots.push_back(use);
  }
  for (Item &item : items)
    std::ranges::sort(item.action.slots,
                      [](SlotUse a, SlotUse b) { return a.arena < b.arena; });
}

std::vector<Action> RankLowering::finish(std::vector<SlottedArena> &arenas) {
  assignSlots(arenas);
  listSlots(arenas);
  std::vector<int> byList(items.size());
  for (size_t i = 0; i < byList.size(); ++i)
    byList[i] = static_cast<int>(i);
  std::ranges::sort(byList, [&](int a, int b) {
    auto key = [&](int i) {
      return std::tuple(items[i].launch, items[i].phase, items[i].place, i);
    };
    return key(a) < key(b);
  });
  std::vector<int> idOf(items.size());
  for (size_t id = 0; id < byList.size(); ++id)
    idOf[byList[id]] = static_cast<int>(id);

  memory::Waits waits(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    for (int wait : items[i].waits)
      waits[idOf[i]].push_back(idOf[wait]);
  waits = memory::reduceWaits(waits);
  std::vector<Action> actions(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    actions[idOf[i]] = std::move(items[i].action);
    actions[idOf[i]].waits = std::move(waits[idOf[i]]);
  }
  return actions;
}

} // namespace

/// All launches by rank, numbered in one global order.
static std::vector<std::vector<PlacedLaunch>>
placeLaunches(const Order &order, const Timeline &timeline) {
  std::vector<std::vector<PlacedLaunch>> launches(order.size());
  for (size_t rank = 0; rank < order.size(); ++rank)
    for (size_t i = 0; i < order[rank].size(); ++i)
      launches[rank].push_back(
          {order[rank][i], timeline.start[rank][i], timeline.end[rank][i]});
  // Of launches that start together, those of lower ranks come first.
  std::vector<std::tuple<int64_t, size_t, size_t>> all;
  for (size_t rank = 0; rank < order.size(); ++rank)
    for (size_t i = 0; i < launches[rank].size(); ++i)
      all.emplace_back(launches[rank][i].start, rank, i);
  std::ranges::sort(all);
  for (size_t place = 0; place < all.size(); ++place)
    launches[std::get<1>(all[place])][std::get<2>(all[place])].place =
        static_cast<int64_t>(place);
  return launches;
}

Result<std::vector<std::vector<Action>>>
lowerOrder(const ChunkGraph &graph, const Order &order,
           const LoweringOptions &options,
           std::vector<std::vector<SlottedArena>> &arenas) {
  SMP_RETURN_IF_ERROR(verify(graph));
  SMP_ASSIGN_OR_RETURN(Timeline timeline, replay(graph, order));
  std::vector<std::vector<PlacedLaunch>> launches =
      placeLaunches(order, timeline);
  std::vector<RankLowering> ranks;
  ranks.reserve(order.size());
  for (int rank = 0; rank < graph.ranks; ++rank)
    ranks.emplace_back(graph, options, rank, launches[rank]);
  for (int rank = 0; rank < graph.ranks; ++rank)
    for (const PlacedLaunch &launch : launches[rank])
      for (size_t e = 0; e < graph.edges.size(); ++e) {
        const Edge &edge = graph.edges[e];
        int peer = graph.chunks[edge.to].rank;
        if (edge.from == launch.step.chunk && peer != rank &&
            edge.programs.contains(launch.step.program))
          ranks[peer].addReceive(static_cast<int>(e), rank, launch);
      }
  arenas.resize(graph.ranks);
  std::vector<std::vector<Action>> lists(graph.ranks);
  for (int rank = 0; rank < graph.ranks; ++rank) {
    ranks[rank].collect();
    lists[rank] = ranks[rank].finish(arenas[rank]);
  }
  return lists;
}

Result<std::vector<RankSchedules>>
lowerSchedules(const ChunkGraph &graph, const Order &train,
               int64_t microbatches, int64_t accumulation,
               const LoweringOptions &options) {
  std::vector<std::vector<SlottedArena>> arenas;
  Order step = addStepPrograms(graph, repeat(train, accumulation, microbatches),
                               accumulation * microbatches);
  SMP_ASSIGN_OR_RETURN(auto trainLists,
                       lowerOrder(graph, step, options, arenas));
  SMP_ASSIGN_OR_RETURN(
      auto evaluateLists,
      lowerOrder(graph, forwardOrder(graph, Program::Evaluate, microbatches),
                 options, arenas));
  SMP_ASSIGN_OR_RETURN(auto predictLists,
                       lowerOrder(graph,
                                  forwardOrder(graph, Program::Predict, 1),
                                  options, arenas));
  std::vector<RankSchedules> ranks(graph.ranks);
  for (int rank = 0; rank < graph.ranks; ++rank)
    ranks[rank] = {std::move(arenas[rank]), std::move(trainLists[rank]),
                   std::move(evaluateLists[rank]),
                   std::move(predictLists[rank])};
  return ranks;
}

} // namespace smp::schedule
