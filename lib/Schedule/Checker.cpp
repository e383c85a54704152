//===- Checker.cpp - Proof that a schedule runs and is correct ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/Checker.h"

#include <algorithm>
#include <map>
#include <set>

namespace smp::schedule {

namespace {

/// Checks the form of one rank's list.
class StructureChecker {
public:
  StructureChecker(const ChunkGraph &graph, const RankList &list, int rank)
      : graph(graph), list(list), rank(rank) {}

  Status run() const {
    for (size_t i = 0; i < list.arenas.size(); ++i)
      SMP_RETURN_IF_ERROR(checkArena(static_cast<int>(i)));
    for (size_t i = 0; i < list.actions.size(); ++i) {
      int index = static_cast<int>(i);
      const Action &action = list.actions[i];
      if (action.microbatch < 0)
        return expects(index, "a microbatch from 0 on",
                       std::to_string(action.microbatch));
      for (int wait : action.waits)
        if (wait < 0 || wait >= static_cast<int>(list.actions.size()))
          return expects(index, "to wait for actions of its list",
                         "action " + std::to_string(wait));
      SMP_RETURN_IF_ERROR(checkKind(index, action));
    }
    return {};
  }

private:
  Error expects(int index, std::string_view what, std::string_view got) const {
    return {"expects action " + std::to_string(index) + " of rank " +
            std::to_string(rank) + " " + std::string(what) + ", got " +
            std::string(got)};
  }

  Status checkArena(int index) const {
    ArenaKey key = list.arenas[index].key;
    size_t count = key.kind == ArenaKind::Stash      ? graph.chunks.size()
                   : key.kind == ArenaKind::Boundary ? graph.edges.size()
                                                     : graph.inputs.size();
    if (key.index < 0 || static_cast<size_t>(key.index) >= count)
      return Error{"expects arena " + std::to_string(index) + " of rank " +
                   std::to_string(rank) + " to belong to one of " +
                   std::to_string(count) + " values, got value " +
                   std::to_string(key.index)};
    return {};
  }

  Status checkKind(int index, const Action &action) const {
    switch (action.kind) {
    case ActionKind::Launch:
      return checkLaunch(index, action);
    case ActionKind::Send:
    case ActionKind::Recv:
      return checkTransfer(index, action);
    case ActionKind::Load:
      if (action.input < 0 ||
          action.input >= static_cast<int>(graph.inputs.size()))
        return expects(index, "to load an input of the graph",
                       "input " + std::to_string(action.input));
      return checkSlots(index, action, {{ArenaKind::Input, action.input}});
    }
    return {};
  }

  Status checkLaunch(int index, const Action &action) const {
    std::vector<ArenaKey> keys;
    if (!isRankProgram(action.program)) {
      if (action.chunk < 0 ||
          action.chunk >= static_cast<int>(graph.chunks.size()) ||
          graph.chunks[action.chunk].rank != rank)
        return expects(index, "to launch a chunk of its rank",
                       "chunk " + std::to_string(action.chunk));
      if (!graph.chunks[action.chunk].programs.contains(action.program))
        return expects(index, "to launch a program that its chunk has",
                       programName(action.program));
      for (const Access &access :
           accessesOf(graph, action.program, action.chunk))
        keys.push_back(access.arena);
    }
    return checkSlots(index, action, std::move(keys));
  }

  Status checkTransfer(int index, const Action &action) const {
    if (action.edge < 0 || action.edge >= static_cast<int>(graph.edges.size()))
      return expects(index, "to transfer an edge of the graph",
                     "edge " + std::to_string(action.edge));
    const Edge &edge = graph.edges[action.edge];
    int from = graph.chunks[edge.from].rank, to = graph.chunks[edge.to].rank;
    bool sends = action.kind == ActionKind::Send;
    if ((sends ? from : to) != rank || (sends ? to : from) != action.peer ||
        action.peer == rank)
      return expects(index,
                     "to transfer an edge from rank " + std::to_string(from) +
                         " to rank " + std::to_string(to),
                     describe(graph, action));
    return checkSlots(index, action, {{ArenaKind::Boundary, action.edge}});
  }

  /// Exactly one slot in each of the arenas `keys`.
  Status checkSlots(int index, const Action &action,
                    std::vector<ArenaKey> keys) const {
    std::vector<ArenaKey> given;
    for (SlotUse use : action.slots) {
      if (use.arena < 0 || use.arena >= static_cast<int>(list.arenas.size()))
        return expects(index, "to use slots of the rank's arenas",
                       "arena " + std::to_string(use.arena));
      const SlottedArena &arena = list.arenas[use.arena];
      if (use.slot < 0 || use.slot >= arena.slots)
        return expects(index,
                       "to use one of " + std::to_string(arena.slots) +
                           " slots of '" + arenaName(graph, arena.key) + "'",
                       "slot " + std::to_string(use.slot));
      given.push_back(arena.key);
    }
    std::ranges::sort(keys);
    std::ranges::sort(given);
    auto names = [&](const std::vector<ArenaKey> &list) {
      std::string text;
      for (ArenaKey key : list)
        text += (text.empty() ? "'" : ", '") + arenaName(graph, key) + "'";
      return text.empty() ? std::string("none") : text;
    };
    if (keys != given)
      return expects(index, "to use slots of " + names(keys), names(given));
    return {};
  }

  const ChunkGraph &graph;
  const RankList &list;
  int rank;
};

} // namespace

/// Both sides of every channel list the same transfers in the same order.
static Status checkChannels(const ChunkGraph &graph,
                            const std::vector<RankList> &lists) {
  std::map<std::pair<int, int>, std::vector<const Action *>> sends, recvs;
  for (int rank = 0; rank < static_cast<int>(lists.size()); ++rank)
    for (const Action &action : lists[rank].actions) {
      if (action.kind == ActionKind::Send)
        sends[{rank, action.peer}].push_back(&action);
      else if (action.kind == ActionKind::Recv)
        recvs[{action.peer, rank}].push_back(&action);
    }
  for (int from = 0; from < graph.ranks; ++from)
    for (int to = 0; to < graph.ranks; ++to) {
      const auto &out = sends[{from, to}], &in = recvs[{from, to}];
      for (size_t k = 0; k < std::max(out.size(), in.size()); ++k) {
        bool both = k < out.size() && k < in.size();
        if (both && out[k]->edge == in[k]->edge &&
            out[k]->microbatch == in[k]->microbatch)
          continue;
        auto name = [&](const std::vector<const Action *> &side) {
          return k < side.size() ? describe(graph, *side[k])
                                 : std::string("nothing");
        };
        return Error{"expects sends and receives between rank " +
                     std::to_string(from) + " and rank " + std::to_string(to) +
                     " in the same order, got " + name(out) + " against " +
                     name(in) + " as transfer " + std::to_string(k)};
      }
    }
  return {};
}

Status checkStructure(const ChunkGraph &graph,
                      const std::vector<RankList> &lists) {
  SMP_RETURN_IF_ERROR(verify(graph));
  if (static_cast<int>(lists.size()) != graph.ranks)
    return Error{"expects lists of " + std::to_string(graph.ranks) +
                 " ranks, got " + std::to_string(lists.size())};
  for (int rank = 0; rank < graph.ranks; ++rank)
    SMP_RETURN_IF_ERROR(StructureChecker(graph, lists[rank], rank).run());
  return checkChannels(graph, lists);
}

//===----------------------------------------------------------------------===//
// Coverage
//===----------------------------------------------------------------------===//

static ProgramSet programsOf(Pass pass) {
  switch (pass) {
  case Pass::Train:
    return {Program::Count, Program::Forward, Program::Backward,
            Program::Weight};
  case Pass::Evaluate:
    return {Program::Evaluate};
  case Pass::Predict:
    return {Program::Predict};
  }
  return {};
}

/// Counts, then the begin of the step, then everything else, then the update.
static int stageOfStep(Program program) {
  switch (program) {
  case Program::Count:
    return 0;
  case Program::BeginStep:
    return 1;
  case Program::Update:
    return 3;
  default:
    return 2;
  }
}

static Status checkRankCoverage(const ChunkGraph &graph, const RankList &list,
                                int rank, Pass pass, int64_t microbatches) {
  std::string where = " on rank " + std::to_string(rank);
  std::map<std::tuple<Program, int, int64_t>, int> runs;
  int stage = 0;
  for (const Action &action : list.actions) {
    if (action.kind != ActionKind::Launch)
      continue;
    if (stageOfStep(action.program) < stage)
      return Error{"expects counts, then 'begin_step', then the microbatches, "
                   "then 'update', got " +
                   describe(graph, action) + " too late" + where};
    stage = stageOfStep(action.program);
    bool ranked = isRankProgram(action.program);
    ++runs[{action.program, ranked ? -1 : action.chunk, action.microbatch}];
  }
  std::set<std::tuple<Program, int, int64_t>> expected;
  for (int p = 0; p <= static_cast<int>(Program::Update); ++p)
    for (int c = 0; c < static_cast<int>(graph.chunks.size()); ++c) {
      auto program = static_cast<Program>(p);
      if (graph.chunks[c].rank == rank && programsOf(pass).contains(program) &&
          graph.chunks[c].programs.contains(program))
        for (int64_t m = 0; m < microbatches; ++m)
          expected.insert({program, c, m});
    }
  if (pass == Pass::Train)
    for (Program program : {Program::BeginStep, Program::Update})
      expected.insert({program, -1, 0});
  for (const auto &[program, chunk, microbatch] : expected)
    if (int count = runs[{program, chunk, microbatch}]; count != 1)
      return Error{"expects " + describe(Step{program, chunk, microbatch}) +
                   " once" + where + ", got " + std::to_string(count) +
                   " launches"};
  for (const auto &[run, count] : runs)
    if (!expected.count(run))
      return Error{
          "expects no launch outside the pass, got " +
          describe(Step{std::get<0>(run), std::get<1>(run), std::get<2>(run)}) +
          where};
  return {};
}

Status checkCoverage(const ChunkGraph &graph,
                     const std::vector<RankList> &lists, Pass pass,
                     int64_t microbatches) {
  for (int rank = 0; rank < static_cast<int>(lists.size()); ++rank)
    SMP_RETURN_IF_ERROR(
        checkRankCoverage(graph, lists[rank], rank, pass, microbatches));
  return {};
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

Status checkSchedule(const ChunkGraph &graph,
                     const std::vector<RankList> &lists, Pass pass,
                     int64_t microbatches) {
  SMP_RETURN_IF_ERROR(checkStructure(graph, lists));
  if (std::optional<Deadlock> deadlock = findDeadlock(lists))
    return describe(graph, lists, *deadlock);
  SMP_RETURN_IF_ERROR(checkSlots(graph, lists));
  return checkCoverage(graph, lists, pass, microbatches);
}

Status checkSchedules(const ChunkGraph &graph,
                      const std::vector<RankSchedules> &ranks,
                      int64_t microbatches, int64_t accumulation) {
  std::vector<RankList> train, evaluate, predict;
  for (const RankSchedules &rank : ranks) {
    train.push_back({rank.train, rank.arenas});
    evaluate.push_back({rank.evaluate, rank.arenas});
    predict.push_back({rank.predict, rank.arenas});
  }
  SMP_RETURN_IF_ERROR(
      checkSchedule(graph, train, Pass::Train, microbatches * accumulation));
  SMP_RETURN_IF_ERROR(
      checkSchedule(graph, evaluate, Pass::Evaluate, microbatches));
  return checkSchedule(graph, predict, Pass::Predict, 1);
}

Status checkMemory(const ChunkGraph &graph, int rank,
                   std::span<const SlottedArena> arenas,
                   std::span<const int64_t> strides, int64_t limit) {
  int64_t bytes = 0;
  size_t largest = 0;
  for (size_t i = 0; i < arenas.size(); ++i) {
    bytes += arenas[i].slots * strides[i];
    if (arenas[i].slots * strides[i] > arenas[largest].slots * strides[largest])
      largest = i;
  }
  if (bytes <= limit)
    return {};
  return Error{"expects the slots of rank " + std::to_string(rank) +
                   " to fit into " + std::to_string(limit) + " bytes, got " +
                   std::to_string(bytes) + " bytes",
               "most is '" + arenaName(graph, arenas[largest].key) +
                   "': " + std::to_string(arenas[largest].slots) +
                   " slots of " + std::to_string(strides[largest]) + " bytes"};
}

} // namespace smp::schedule
