//===- Dependences.h - Data dependences between programs --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What replay and generators share: which program of which chunk must have run
// for the same microbatch, and how long a program counts for.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_SCHEDULE_DEPENDENCES_H
#define SMP_LIB_SCHEDULE_DEPENDENCES_H

#include "smp/Schedule/Order.h"

#include <algorithm>
#include <array>

namespace smp::schedule {

/// Relative length of a launch. Only the order of events depends on it.
inline int64_t duration(Program program) {
  return program == Program::Backward ? 2 : 1;
}

struct Dependence {
  Program program;
  int chunk;
};

class Dependences {
public:
  explicit Dependences(const ChunkGraph &graph) {
    int chunks = static_cast<int>(graph.chunks.size());
    for (std::vector<std::vector<Dependence>> &table : before)
      table.resize(chunks);
    for (const Edge &edge : graph.edges)
      for (int p = 0; p < programs; ++p)
        if (edge.programs.contains(static_cast<Program>(p)))
          before[p][edge.to].push_back({static_cast<Program>(p), edge.from});
    for (int c = 0; c < chunks; ++c) {
      add(graph, Program::Backward, Program::Forward, c);
      add(graph, Program::Weight, Program::Forward, c);
      add(graph, Program::Weight, Program::Backward, c);
    }
  }

  const std::vector<Dependence> &of(Program program, int chunk) const {
    return before[static_cast<int>(program)][chunk];
  }

private:
  static constexpr int programs = static_cast<int>(Program::Update) + 1;

  void add(const ChunkGraph &graph, Program later, Program earlier, int c) {
    if (graph.chunks[c].programs.contains(earlier))
      before[static_cast<int>(later)][c].push_back({earlier, c});
  }

  std::array<std::vector<std::vector<Dependence>>, programs> before;
};

/// When each step was done.
class FinishTimes {
public:
  static constexpr int64_t never = -1;

  FinishTimes(int chunks, int64_t microbatches)
      : chunks(chunks), microbatches(microbatches),
        end((static_cast<int64_t>(Program::Update) + 1) * chunks * microbatches,
            never) {}
  FinishTimes(const ChunkGraph &graph, const Order &order)
      : FinishTimes(static_cast<int>(graph.chunks.size()),
                    countMicrobatches(order)) {}

  int64_t get(const Step &step) const {
    return step.microbatch < microbatches ? end[index(step)] : never;
  }
  void set(const Step &step, int64_t time) {
    if (!isRankProgram(step.program))
      end[index(step)] = time;
  }

private:
  static int64_t countMicrobatches(const Order &order) {
    int64_t count = 1;
    for (const std::vector<Step> &steps : order)
      for (const Step &step : steps)
        count = std::max(count, step.microbatch + 1);
    return count;
  }
  size_t index(const Step &step) const {
    return (static_cast<int64_t>(step.program) * chunks + step.chunk) *
               microbatches +
           step.microbatch;
  }

  int64_t chunks, microbatches;
  std::vector<int64_t> end;
};

} // namespace smp::schedule

#endif // SMP_LIB_SCHEDULE_DEPENDENCES_H
