//===- ScheduleRun.h - Executions of a schedule -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_EXECUTOR_SCHEDULERUN_H
#define SMP_RUNTIME_LIB_EXECUTOR_SCHEDULERUN_H

#include "LaunchRunner.h"

namespace smp::runtime {

/// One execution at a time. What it needs is kept for the next one, which then
/// asks for no memory.
class ScheduleRun {
public:
  ScheduleRun(Executor::Impl &executor, const Schedule &schedule);

  Status execute(const StepInput &input);

private:
  /// A FIFO of transfers with one peer in one direction.
  struct Channel {
    std::pair<unsigned, bool> key; ///< peer, send
    const std::vector<unsigned> *actions;
    size_t next = 0;
    bool busy = false;
    Request request;
    double begin = 0;
    int activity = 0; ///< slot of the liveness record
  };

  void begin(const StepInput &input);
  Status runToEnd();
  Result<bool> advance();
  Result<bool> advanceChannels();
  void startTransfer(Channel &channel, unsigned action);
  bool startLaunch();
  Result<bool> startLoads();
  void complete(unsigned action, const char *track, double begin, double end);
  void rest(int idleRounds);

  Executor::Impl &executor;
  const Schedule &schedule;
  const StepInput *input = nullptr;
  SchedulePlan &plan;
  LaunchRunner launch;
  double launchBegin = 0;
  size_t nextLaunch = 0;
  std::vector<unsigned> waits; ///< left, by action
  std::vector<unsigned> loads; ///< ready
  std::vector<Channel> channels;
  size_t left = 0;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_EXECUTOR_SCHEDULERUN_H
