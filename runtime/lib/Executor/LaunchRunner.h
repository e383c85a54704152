//===- LaunchRunner.h - Executes the commands of one launch -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_EXECUTOR_LAUNCHRUNNER_H
#define SMP_RUNTIME_LIB_EXECUTOR_LAUNCHRUNNER_H

#include "ExecutorImpl.h"

namespace smp::runtime {

class LaunchRunner {
public:
  explicit LaunchRunner(Executor::Impl &executor);
  ~LaunchRunner() { abandon(); }

  void begin(unsigned action, const Action &source, const StepInput &input,
             SchedulePlan &plan);
  bool isActive() const { return program != nullptr; }
  unsigned action() const { return actionId; }

  /// Starts what is ready and notes what is complete; true if anything was.
  Result<bool> advance();
  /// Whether all commands are complete; ends the launch if so.
  bool finish();
  /// Ends a launch that failed. Commands hold pointers into the frame: those
  /// that the device computes are waited for.
  void abandon();

  bool computes() const { return onDevice > 0; }
  bool communicates() const { return !collectives.empty(); }

private:
  struct Collective {
    unsigned command;
    Request request;
    double begin;
  };

  bool startReady();
  void startCommand(unsigned command);
  void startCollective(unsigned command);
  void findReadyCollectives();
  Result<bool> testCollectives();
  void complete(unsigned command, double begin, double end);
  Error errorOf(unsigned command, const Error &error) const;

  Executor::Impl &executor;
  const Program *program = nullptr;
  const ProgramPlan *programPlan = nullptr;
  SchedulePlan *schedulePlan = nullptr;
  unsigned actionId = 0;
  int64_t microbatch = 0, step = 0;
  Frame frame;
  std::vector<unsigned> waits; ///< left, by command
  std::vector<unsigned> ready; ///< compute and copy commands
  /// Of the collectives of each group: which one is next, and whether the one
  /// before it is in flight.
  struct GroupQueue {
    size_t next = 0;
    bool busy = false;
  };
  std::vector<GroupQueue> groups;
  std::vector<unsigned> heads;         ///< collectives that may start
  std::vector<Collective> collectives; ///< in flight, one a group
  std::vector<Completion> completions;
  unsigned onDevice = 0, left = 0;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_EXECUTOR_LAUNCHRUNNER_H
