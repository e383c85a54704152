//===- Executor.h - Executes the schedules of a rank ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule is a list of actions (launches of programs, transfers, loads)
// with waits. Several queues run at once: launches, one queue per neighbour
// and direction, loads; inside a launch compute commands start as soon as what
// they wait for is complete, in any order, and collectives in list order per
// group. The order below is the one that the checker proves sufficient:
//
//   launch i+1 starts after launch i is complete, with all its commands;
//   transfers with one neighbour in one direction follow each other likewise;
//   collectives of one group follow each other inside a launch;
//   everything else: waits only.
//
// One thread per rank executes all of this; while it waits it computes tiles,
// and between tiles it progresses the transport.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_EXECUTOR_EXECUTOR_H
#define SMP_RUNTIME_EXECUTOR_EXECUTOR_H

#include "smp/Support/Grid.h"
#include "smp/runtime/Comm/Comm.h"
#include "smp/runtime/Device/Device.h"
#include "smp/runtime/Trace/Trace.h"

#include <functional>
#include <optional>

namespace smp::runtime {

/// What an executor works with; all of it outlives the executor.
struct ExecutorSetup {
  const Job *job = nullptr;
  const RankJob *rankJob = nullptr;
  Comm *comm = nullptr;
  const Grid *grid = nullptr;
  Arenas *arenas = nullptr;
  Device *device = nullptr;
  Trace *trace = nullptr; ///< null: no trace
  /// Tests: start ready commands in a random order of this seed.
  std::optional<uint64_t> orderSeed;
  /// Tests: fill ranges with NaN once their value is dead.
  bool poison = false;
};

/// One execution of a schedule.
struct StepInput {
  int64_t step = 0; ///< for messages, which count from 1
  std::function<StepState(int64_t microbatch)> state;
  /// Fills the rows of an input of a microbatch.
  std::function<Status(const LoadAction &load, int64_t microbatch, void *rows)>
      load;
};

class Executor {
public:
  static Result<std::unique_ptr<Executor>> create(const ExecutorSetup &setup);
  ~Executor();

  /// Executes `schedule`, one of the rank's, to its end.
  Status run(const Schedule &schedule, const StepInput &input);

  struct Impl;

private:
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_EXECUTOR_EXECUTOR_H
