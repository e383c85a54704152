//===- ChunkGraph.h - What a schedule is made for ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chunks of a model, the values that pass between them and the batch
// inputs they read: everything a schedule needs to know of a program, and
// nothing else. A chunk is a unit of code; which pp rank owns it is a field,
// so that a rank may own several chunks and a microbatch may visit a rank more
// than once. Nothing here, in `Order.h` or in `Checker.h` assumes that chunk
// and stage are the same thing.
//
// This page also states which program touches which slotted arena. Lowering
// and checker share this definition, and only this one.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_CHUNKGRAPH_H
#define SMP_SCHEDULE_CHUNKGRAPH_H

#include "smp/Support/Result.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace smp::schedule {

/// What a launch runs. The last two belong to a rank, the others to a chunk.
enum class Program : uint8_t {
  Count,
  Forward,
  Backward,
  Weight,
  Evaluate,
  Predict,
  BeginStep,
  Update,
};

/// The name in the job format: "forward", "begin_step", ...
std::string_view programName(Program program);

/// True for the programs that a rank has once, not once a chunk.
inline bool isRankProgram(Program program) {
  return program == Program::BeginStep || program == Program::Update;
}

/// A small set of programs.
class ProgramSet {
public:
  ProgramSet() = default;
  ProgramSet(std::initializer_list<Program> programs) {
    for (Program program : programs)
      insert(program);
  }
  void insert(Program program) { bits |= 1u << static_cast<unsigned>(program); }
  bool contains(Program program) const {
    return (bits >> static_cast<unsigned>(program)) & 1u;
  }
  bool empty() const { return bits == 0; }
  bool operator==(const ProgramSet &) const = default;

private:
  unsigned bits = 0;
};

/// A convex piece of the graph, owned by one pp rank. Chunks are numbered in
/// topological order of their forward programs.
struct Chunk {
  int rank = 0;
  /// The programs that exist. A chunk whose values need no gradient has no
  /// `Backward`; one without labels has no `Count`.
  ProgramSet programs = {Program::Forward, Program::Backward, Program::Evaluate,
                         Program::Predict};
  /// Whether `Forward` saves values that `Backward` and `Weight` read.
  bool stash = true;
};

/// Values that one chunk hands to another, a boundary arena on each side (one
/// when both chunks are on one rank). Edges of activations run to a later
/// chunk, edges of cotangents to an earlier one. Longer ways are relayed by the
/// chunks between, or are edges of their own: both work.
struct Edge {
  std::string name;
  int from = 0, to = 0;
  /// The programs of `from` that write the edge; the same program of `to` reads
  /// it.
  ProgramSet programs = {Program::Forward, Program::Evaluate, Program::Predict};
  /// Programs that read the value once more, in place, for the same microbatch:
  /// on the side of `from` (an output that is also a saved value) and of `to`.
  ProgramSet keptByProducer = {}, keptByConsumer = {};
};

/// Who reads a batch input: the programs of a chunk.
struct InputUse {
  int chunk = 0;
  ProgramSet programs;
};

/// A tensor of the batch: tokens, labels, weights of rows.
struct Input {
  std::string name;
  std::vector<InputUse> uses;
};

struct ChunkGraph {
  int ranks = 1;
  std::vector<Chunk> chunks;
  std::vector<Edge> edges;
  std::vector<Input> inputs;
};

/// Checks what everything else relies on: indices in range, edges of
/// activations forward and of cotangents backward, programs that exist.
Status verify(const ChunkGraph &graph);

/// A chain of chunks on the given ranks with an activation edge between
/// neighbours and a cotangent edge back, "tokens" read by the first chunk and
/// "labels" by the last: what tests, documentation and estimates use.
ChunkGraph makeChain(const std::vector<int> &rankOfChunk);

/// What a slotted arena holds; `index` counts chunks, edges or inputs.
enum class ArenaKind : uint8_t { Stash, Boundary, Input };

struct ArenaKey {
  ArenaKind kind = ArenaKind::Stash;
  int index = 0;
  auto operator<=>(const ArenaKey &) const = default;
};

/// "stash.c0", "boundary.<edge>", "input.<name>".
std::string arenaName(const ChunkGraph &graph, ArenaKey key);

/// One slot that a launch of a program of a chunk touches. A transfer or a load
/// writes what is only read here.
struct Access {
  ArenaKey arena;
  bool write = false;
};

/// All slots that `program` of `chunk` touches for its microbatch, by arena.
std::vector<Access> accessesOf(const ChunkGraph &graph, Program program,
                               int chunk);

} // namespace smp::schedule

#endif // SMP_SCHEDULE_CHUNKGRAPH_H
