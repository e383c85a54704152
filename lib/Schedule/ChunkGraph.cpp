//===- ChunkGraph.cpp - What a schedule is made for -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/ChunkGraph.h"

#include <algorithm>
#include <array>

namespace smp::schedule {

std::string_view programName(Program program) {
  static constexpr std::array<std::string_view, 8> names = {
      "count",    "forward", "backward",   "weight",
      "evaluate", "predict", "begin_step", "update"};
  return names[static_cast<size_t>(program)];
}

static std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

static bool isCotangent(const Edge &edge) {
  return edge.programs.contains(Program::Backward) ||
         edge.programs.contains(Program::Weight);
}

static Status verifyEdge(const ChunkGraph &graph, const Edge &edge) {
  int chunks = static_cast<int>(graph.chunks.size());
  for (int chunk : {edge.from, edge.to})
    if (chunk < 0 || chunk >= chunks)
      return Error{"expects edge " + quoted(edge.name) +
                   " between chunks 0 to " + std::to_string(chunks - 1) +
                   ", got chunk " + std::to_string(chunk)};
  if (edge.programs.empty())
    return Error{"expects edge " + quoted(edge.name) +
                 " to be written by a program, got none"};
  bool forward = edge.from < edge.to;
  if (edge.from == edge.to || forward == isCotangent(edge))
    return Error{"expects edge " + quoted(edge.name) + " to run to " +
                 (isCotangent(edge) ? "an earlier" : "a later") +
                 " chunk, got chunk " + std::to_string(edge.from) +
                 " to chunk " + std::to_string(edge.to)};
  for (int p = 0; p <= static_cast<int>(Program::Update); ++p) {
    auto program = static_cast<Program>(p);
    for (int chunk : {edge.from, edge.to})
      if (edge.programs.contains(program) &&
          !graph.chunks[chunk].programs.contains(program))
        return Error{"expects chunk " + std::to_string(chunk) +
                     " to have a program " + quoted(programName(program)) +
                     " for edge " + quoted(edge.name) + ", got none"};
  }
  return {};
}

Status verify(const ChunkGraph &graph) {
  int chunks = static_cast<int>(graph.chunks.size());
  if (graph.ranks < 1 || chunks == 0)
    return Error{"expects at least one rank and one chunk, got " +
                 std::to_string(graph.ranks) + " ranks and " +
                 std::to_string(chunks) + " chunks"};
  for (int c = 0; c < chunks; ++c) {
    int rank = graph.chunks[c].rank;
    if (rank < 0 || rank >= graph.ranks)
      return Error{"expects chunk " + std::to_string(c) + " on a rank below " +
                   std::to_string(graph.ranks) + ", got rank " +
                   std::to_string(rank)};
  }
  for (const Edge &edge : graph.edges)
    SMP_RETURN_IF_ERROR(verifyEdge(graph, edge));
  for (const Input &input : graph.inputs)
    for (const InputUse &use : input.uses)
      if (use.chunk < 0 || use.chunk >= chunks)
        return Error{"expects input " + quoted(input.name) +
                     " to be read by a chunk below " + std::to_string(chunks) +
                     ", got chunk " + std::to_string(use.chunk)};
  return {};
}

ChunkGraph makeChain(const std::vector<int> &rankOfChunk) {
  ChunkGraph graph;
  int chunks = static_cast<int>(rankOfChunk.size());
  for (int rank : rankOfChunk) {
    graph.chunks.push_back({.rank = rank});
    graph.ranks = std::max(graph.ranks, rank + 1);
  }
  for (int c = 0; c + 1 < chunks; ++c) {
    std::string near = "c" + std::to_string(c);
    std::string far = "c" + std::to_string(c + 1);
    graph.edges.push_back(
        {.name = "act." + near + "-" + far, .from = c, .to = c + 1});
    graph.edges.push_back({.name = "cot." + far + "-" + near,
                           .from = c + 1,
                           .to = c,
                           .programs = {Program::Backward}});
  }
  if (chunks == 0)
    return graph;
  graph.chunks.back().programs.insert(Program::Count);
  graph.inputs.push_back({.name = "tokens",
                          .uses = {{0,
                                    {Program::Forward, Program::Backward,
                                     Program::Evaluate, Program::Predict}}}});
  graph.inputs.push_back({.name = "labels",
                          .uses = {{chunks - 1,
                                    {Program::Count, Program::Forward,
                                     Program::Backward, Program::Evaluate}}}});
  return graph;
}

std::string arenaName(const ChunkGraph &graph, ArenaKey key) {
  switch (key.kind) {
  case ArenaKind::Stash:
    return "stash.c" + std::to_string(key.index);
  case ArenaKind::Boundary:
    return "boundary." + graph.edges[key.index].name;
  case ArenaKind::Input:
    return "input." + graph.inputs[key.index].name;
  }
  return {};
}

std::vector<Access> accessesOf(const ChunkGraph &graph, Program program,
                               int chunk) {
  std::vector<Access> accesses;
  if (isRankProgram(program))
    return accesses;
  const Chunk &owner = graph.chunks[chunk];
  bool training = owner.programs.contains(Program::Backward) ||
                  owner.programs.contains(Program::Weight);
  bool stashes = program == Program::Forward || program == Program::Backward ||
                 program == Program::Weight;
  if (owner.stash && training && stashes)
    accesses.push_back(
        {{ArenaKind::Stash, chunk}, program == Program::Forward});
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const Edge &edge = graph.edges[e];
    ArenaKey key = {ArenaKind::Boundary, static_cast<int>(e)};
    bool carries = edge.programs.contains(program);
    if (edge.from == chunk && carries)
      accesses.push_back({key, /*write=*/true});
    else if ((edge.from == chunk && edge.keptByProducer.contains(program)) ||
             (edge.to == chunk &&
              (carries || edge.keptByConsumer.contains(program))))
      accesses.push_back({key});
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    for (const InputUse &use : graph.inputs[i].uses)
      if (use.chunk == chunk && use.programs.contains(program))
        accesses.push_back({{ArenaKind::Input, static_cast<int>(i)}});
  // Two uses of one input by one chunk are one access.
  std::ranges::sort(accesses, [](const Access &a, const Access &b) {
    return a.arena < b.arena;
  });
  auto repeated =
      std::ranges::unique(accesses, [](const Access &a, const Access &b) {
        return a.arena == b.arena;
      });
  accesses.erase(repeated.begin(), repeated.end());
  return accesses;
}

} // namespace smp::schedule
