//===- ScheduleRun.cpp - One execution of a schedule ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleRun.h"

#include <ctime>
#include <sched.h>

using namespace smp;
using namespace smp::runtime;

ScheduleRun::ScheduleRun(Executor::Impl &executor, const Schedule &schedule)
    : executor(executor), schedule(schedule), plan(executor.planOf(schedule)),
      launch(executor) {
  int activity = 2; // after compute and collectives
  for (const auto &[key, actions] : plan.transfers) {
    Channel channel{key, &actions, 0, false, {}, 0, activity};
    activity = activity + 1 < phaseSlot ? activity + 1 : activity;
    channels.push_back(std::move(channel));
  }
  loads.reserve(schedule.actions.size());
}

void ScheduleRun::begin(const StepInput &stepInput) {
  input = &stepInput;
  nextLaunch = 0;
  waits = plan.dependences.waits;
  left = schedule.actions.size();
  // An execution that failed leaves some of them under way.
  for (Channel &channel : channels) {
    channel.next = 0;
    channel.busy = false;
    channel.request = {};
  }
  loads.clear();
  for (unsigned i = 0; i < schedule.actions.size(); ++i)
    if (waits[i] == 0 &&
        std::holds_alternative<LoadAction>(schedule.actions[i].work))
      loads.push_back(i);
}

void ScheduleRun::complete(unsigned action, const char *track, double begin,
                           double end) {
  const Action &done = schedule.actions[action];
  if (executor.setup.trace)
    executor.setup.trace->add({plan.labels[action], track, begin, end, -1,
                               action, input->step, done.microbatch});
  --left;
  for (unsigned successor : plan.dependences.successors[action])
    if (--waits[successor] == 0 &&
        std::holds_alternative<LoadAction>(schedule.actions[successor].work))
      loads.push_back(successor);
}

Result<bool> ScheduleRun::startLoads() {
  bool moved = !loads.empty();
  while (!loads.empty()) {
    auto it = loads.begin() + long(executor.choose(loads.size()));
    unsigned id = *it;
    loads.erase(it);
    const Action &action = schedule.actions[id];
    const auto &load = std::get<LoadAction>(action.work);
    const Arenas &arenas = *executor.setup.arenas;
    double begin = traceNow();
    Status status = input->load(load, action.microbatch,
                                arenas.base(load.arena) +
                                    load.slot * arenas.stride(load.arena));
    if (!status)
      return placeError(executor, plan.labels[id], action.microbatch,
                        input->step, nullptr, "", status.error());
    complete(id, "load", begin, traceNow());
  }
  return moved;
}

bool ScheduleRun::startLaunch() {
  if (launch.isActive() || nextLaunch == plan.launches.size())
    return false;
  unsigned id = plan.launches[nextLaunch];
  if (waits[id] > 0)
    return false;
  ++nextLaunch;
  launchBegin = traceNow();
  launch.begin(id, schedule.actions[id], *input, plan);
  return true;
}

void ScheduleRun::startTransfer(Channel &channel, unsigned id) {
  const Action &action = schedule.actions[id];
  const auto &transfer = std::get<TransferAction>(action.work);
  Coordinate peer =
      executor.setup.grid->coordinate(executor.setup.comm->rank());
  peer.pp = int(transfer.peer);
  int rank = executor.setup.grid->rank(peer);
  void *data = executor.setup.arenas->at(transfer.buffer, transfer.slot);
  setActivity(channel.activity,
              {plan.labels[id], rank, action.microbatch, input->step});
  channel.begin = traceNow();
  channel.busy = true;
  Comm &comm = *executor.setup.comm;
  channel.request =
      transfer.send
          ? comm.send(rank, int(transfer.tag), data, transfer.buffer.bytes)
          : comm.receive(rank, int(transfer.tag), data, transfer.buffer.bytes);
}

Result<bool> ScheduleRun::advanceChannels() {
  bool moved = false;
  for (Channel &channel : channels) {
    if (channel.next == channel.actions->size())
      continue;
    unsigned id = (*channel.actions)[channel.next];
    if (!channel.busy) {
      if (waits[id] > 0)
        continue;
      startTransfer(channel, id);
      moved = true;
    }
    const Action &action = schedule.actions[id];
    Result<bool> done = executor.setup.comm->test(channel.request);
    if (!done)
      return placeError(executor, plan.labels[id], action.microbatch,
                        input->step, nullptr, "", done.error());
    if (!*done)
      continue;
    clearActivity(channel.activity);
    channel.busy = false;
    ++channel.next;
    if (plan.poison)
      plan.poison->complete(id, 0, *executor.setup.arenas);
    complete(id, channel.key.second ? "send" : "recv", channel.begin,
             traceNow());
    moved = true;
  }
  return moved;
}

Result<bool> ScheduleRun::advance() {
  SMP_ASSIGN_OR_RETURN(bool moved, startLoads());
  moved |= startLaunch();
  if (launch.isActive()) {
    SMP_ASSIGN_OR_RETURN(bool launched, launch.advance());
    moved |= launched;
    if (unsigned id = launch.action(); launch.finish()) {
      clearActivity(0);
      complete(id, "launch", launchBegin, traceNow());
      moved = true;
    }
  }
  SMP_ASSIGN_OR_RETURN(bool transferred, advanceChannels());
  return moved | transferred;
}

/// Waits a moment. Ranks often outnumber cores, so who waits gives up its core:
/// a few rounds of polling, then yielding, then short sleeps.
void ScheduleRun::rest(int idleRounds) {
  if (launch.computes()) {
    executor.setup.device->wait(50);
  } else if (idleRounds > 400) {
    timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
  } else if (idleRounds > 100) {
    sched_yield();
  }
}

Status ScheduleRun::runToEnd() {
  int idleRounds = 0;
  while (left > 0) {
    SMP_ASSIGN_OR_RETURN(bool moved, advance());
    if (moved || executor.setup.device->work())
      idleRounds = 0;
    else
      rest(++idleRounds);
  }
  return {};
}

Status ScheduleRun::execute(const StepInput &stepInput) {
  if (plan.poison)
    plan.poison->begin(*executor.setup.arenas);
  begin(stepInput);
  Status status = runToEnd();
  if (!status)
    launch.abandon();
  return status;
}
