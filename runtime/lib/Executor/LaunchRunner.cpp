//===- LaunchRunner.cpp - Executes the commands of one launch -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchRunner.h"

#include <algorithm>

using namespace smp;
using namespace smp::runtime;

/// Room for the largest program, in whatever order its commands become ready.
LaunchRunner::LaunchRunner(Executor::Impl &executor)
    : executor(executor), groups(executor.groups.size()) {
  size_t commands = 0;
  for (const Program &each : executor.setup.rankJob->programs)
    commands = std::max(commands, each.commands.size());
  waits.reserve(commands);
  ready.reserve(commands);
  completions.reserve(commands);
  heads.reserve(groups.size());
  collectives.reserve(groups.size());
}

void LaunchRunner::abandon() {
  Device &device = *executor.setup.device;
  while (onDevice > 0) {
    completions.clear();
    device.poll(completions);
    onDevice -= unsigned(completions.size());
    if (onDevice > 0 && !device.work())
      device.wait(100);
  }
  collectives.clear();
  program = nullptr;
}

void LaunchRunner::begin(unsigned action, const Action &source,
                         const StepInput &input, SchedulePlan &plan) {
  const auto &launch = std::get<LaunchAction>(source.work);
  program = &executor.setup.rankJob->programs[launch.program];
  programPlan = &executor.programs[launch.program];
  schedulePlan = &plan;
  actionId = action;
  microbatch = source.microbatch;
  step = input.step;
  frame.arenas = executor.setup.arenas;
  frame.state = input.state(microbatch);
  frame.slots.assign(executor.setup.arenas->size(), 0);
  for (const auto &[arena, slot] : launch.slots)
    frame.slots[arena] = slot;
  waits = programPlan->dependences.waits;
  ready.clear();
  for (unsigned i = 0; i < waits.size(); ++i)
    if (waits[i] == 0 && program->commands[i].queue.kind != Queue::Group)
      ready.push_back(i);
  std::ranges::fill(groups, GroupQueue());
  left = unsigned(waits.size());
}

bool LaunchRunner::finish() {
  if (!program || left > 0)
    return false;
  program = nullptr;
  return true;
}

/// The collectives that may start: heads of their queues.
void LaunchRunner::findReadyCollectives() {
  heads.clear();
  for (const auto &[group, list] : programPlan->collectives) {
    auto [next, busy] = groups[group];
    if (!busy && next < list.size() && waits[list[next]] == 0)
      heads.push_back(list[next]);
  }
}

bool LaunchRunner::startReady() {
  bool started = false;
  // In a random order one command runs at a time, or two: with all of them
  // handed over at once the device would choose, not the seed.
  unsigned limit = executor.order ? 1 + unsigned((*executor.order)() % 2) : ~0u;
  while (true) {
    findReadyCollectives();
    size_t open = onDevice < limit ? ready.size() : 0;
    if (heads.size() + open == 0)
      return started;
    size_t choice = executor.choose(heads.size() + open);
    if (choice < heads.size()) {
      startCollective(heads[choice]);
    } else {
      auto it = ready.begin() + long(choice - heads.size());
      unsigned command = *it;
      ready.erase(it);
      startCommand(command);
    }
    started = true;
  }
}

void LaunchRunner::startCommand(unsigned id) {
  const Command &command = program->commands[id];
  setActivity(
      0, {programPlan->labels[id], -1, microbatch, step, command.location});
  ++onDevice;
  executor.setup.device->start(command, frame, id);
}

void LaunchRunner::startCollective(unsigned id) {
  const Command &command = program->commands[id];
  const auto &collective = std::get<CollectiveCommand>(command.work);
  const Group &group = *executor.groups[collective.group];
  Comm &comm = *executor.setup.comm;
  void *buffer = frame.address(collective.buffer);
  ++groups[collective.group].next;
  groups[collective.group].busy = true;
  setActivity(
      1, {programPlan->labels[id], -1, microbatch, step, command.location});
  Request request;
  switch (collective.op) {
  case CollectiveOp::AllReduce:
    request = comm.allReduce(group, collective.type, buffer, collective.count);
    break;
  case CollectiveOp::Broadcast:
    request = comm.broadcast(group, collective.type, buffer, collective.count,
                             int(collective.root));
    break;
  case CollectiveOp::AllGather:
    request = comm.allGather(group, collective.type, buffer, collective.count);
    break;
  case CollectiveOp::ReduceScatter:
    request =
        comm.reduceScatter(group, collective.type, buffer, collective.count);
    break;
  }
  collectives.push_back({id, std::move(request), traceNow()});
}

Result<bool> LaunchRunner::testCollectives() {
  bool moved = false;
  for (size_t i = 0; i < collectives.size();) {
    Collective &collective = collectives[i];
    Result<bool> done = executor.setup.comm->test(collective.request);
    if (!done)
      return errorOf(collective.command, done.error());
    if (!*done) {
      if (i + 1 == collectives.size()) // the record is of the last one
        setActivityPeer(1, Comm::waitsFor(collective.request));
      ++i;
      continue;
    }
    Collective finished = std::move(collective);
    collectives.erase(collectives.begin() + long(i));
    groups[program->commands[finished.command].queue.group].busy = false;
    complete(finished.command, finished.begin, traceNow());
    moved = true;
  }
  if (moved && collectives.empty())
    clearActivity(1);
  return moved;
}

void LaunchRunner::complete(unsigned id, double begin, double end) {
  const Command &command = program->commands[id];
  if (Trace *trace = executor.setup.trace) {
    bool grouped = command.queue.kind == Queue::Group;
    trace->add(
        {programPlan->labels[id],
         grouped
             ? "group " + executor.setup.job->groups[command.queue.group].name
         : command.queue.kind == Queue::Copy ? "copy"
                                             : "compute",
         begin, end, id, actionId, step, microbatch, command.location});
  }
  if (schedulePlan->poison)
    schedulePlan->poison->complete(actionId, id, *executor.setup.arenas);
  --left;
  for (unsigned successor : programPlan->dependences.successors[id])
    if (--waits[successor] == 0 &&
        program->commands[successor].queue.kind != Queue::Group)
      // By id, so that without a seed the list order is the order of choice.
      ready.insert(std::ranges::lower_bound(ready, successor), successor);
}

Result<bool> LaunchRunner::advance() {
  completions.clear();
  executor.setup.device->poll(completions);
  onDevice -= unsigned(completions.size());
  for (const Completion &each : completions)
    complete(unsigned(each.ticket), each.begin, each.end);
  bool moved = !completions.empty();
  if (!collectives.empty()) {
    SMP_ASSIGN_OR_RETURN(bool completed, testCollectives());
    moved |= completed;
  }
  moved |= startReady();
  return moved;
}

Error LaunchRunner::errorOf(unsigned command, const Error &error) const {
  return placeError(executor, schedulePlan->labels[actionId], microbatch, step,
                    &program->commands[command], programPlan->labels[command],
                    error);
}
