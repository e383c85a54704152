//===- ExecutorImpl.h - State shared by the parts of the executor *- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_EXECUTOR_EXECUTORIMPL_H
#define SMP_RUNTIME_LIB_EXECUTOR_EXECUTORIMPL_H

#include "Dependences.h"
#include "PoisonPlan.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Executor/Executor.h"

#include <map>
#include <random>

namespace smp::runtime {

/// What is computed once per program.
struct ProgramPlan {
  Dependences dependences;
  /// Per group: its collectives, in list order.
  std::map<unsigned, std::vector<unsigned>> collectives;
  std::vector<std::string> labels; ///< of the commands, for traces and errors
};

/// What is computed once per schedule.
struct SchedulePlan {
  Dependences dependences;
  std::vector<std::string> labels; ///< of the actions
  std::vector<unsigned> launches;  ///< in order
  /// Per (peer, send): the transfers, in order.
  std::map<std::pair<unsigned, bool>, std::vector<unsigned>> transfers;
  std::optional<PoisonPlan> poison;
};

class ScheduleRun;

struct Executor::Impl {
  Impl();
  ~Impl();

  ExecutorSetup setup;
  std::vector<std::optional<Group>> groups;
  std::vector<ProgramPlan> programs;
  std::map<const Schedule *, SchedulePlan> schedules;
  /// Made in the first execution of each; later ones find all memory there.
  std::map<const Schedule *, std::unique_ptr<ScheduleRun>> runs;
  std::optional<std::mt19937_64> order;

  SchedulePlan &planOf(const Schedule &schedule);
  /// Which of `count` ready things is next: the first, or any in test mode.
  size_t choose(size_t count) {
    return order && count > 1 ? (*order)() % count : 0;
  }
};

/// An error of an action, or of a command of it, with its place.
Error placeError(const Executor::Impl &executor, const std::string &action,
                 int64_t microbatch, int64_t step, const Command *command,
                 const std::string &commandLabel, const Error &error);

/// "product 64x256x128", "all_reduce rdp", "fill"; kernels by symbol.
std::string labelOf(const Command &command, const Job &job);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_EXECUTOR_EXECUTORIMPL_H
