//===- PoisonPlan.cpp - Which ranges die when -----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PoisonPlan.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace smp;
using namespace smp::runtime;

/// Walks the accesses in list order, one arena at a time, and keeps the values
/// that are alive as disjoint segments.
class PoisonPlan::Builder {
public:
  Builder(PoisonPlan &plan, const Job &job, const RankJob &rankJob)
      : plan(plan), job(job), rankJob(rankJob),
        segments(job.ranks[rankJob.rank].arenas.size()) {}

  void visit(const Schedule &schedule);

private:
  struct Segment {
    int64_t end;
    std::set<unsigned> events; ///< the writer and the readers so far
  };
  using Segments = std::map<int64_t, Segment>; ///< by begin

  Range resolve(const Operand &operand, int64_t slot) const {
    int64_t begin =
        operand.offset +
        (operand.slotted
             ? slot * job.ranks[rankJob.rank].arenas[operand.arena].stride
             : 0);
    return {operand.arena, begin, begin + operand.bytes};
  }
  /// Values elsewhere outlive the step.
  bool isScratch(unsigned arena) const {
    return std::ranges::find(plan.scratch, arena) != plan.scratch.end();
  }
  void read(unsigned event, const Range &range);
  void write(unsigned event, const Range &range);
  void split(Segments &list, int64_t at);
  void close(const Range &range, const std::set<unsigned> &events);
  void visitLaunch(const LaunchAction &launch, unsigned event);

  PoisonPlan &plan;
  const Job &job;
  const RankJob &rankJob;
  std::vector<Segments> segments;
};

/// Makes `at` a boundary between segments.
void PoisonPlan::Builder::split(Segments &list, int64_t at) {
  auto it = list.upper_bound(at);
  if (it == list.begin())
    return;
  --it;
  if (it->first == at || it->second.end <= at)
    return;
  Segment right = it->second;
  it->second.end = at;
  list.emplace(at, std::move(right));
}

void PoisonPlan::Builder::read(unsigned event, const Range &range) {
  if (!isScratch(range.arena))
    return;
  Segments &list = segments[range.arena];
  split(list, range.begin);
  split(list, range.end);
  for (auto it = list.lower_bound(range.begin);
       it != list.end() && it->first < range.end; ++it)
    it->second.events.insert(event);
}

void PoisonPlan::Builder::close(const Range &range,
                                const std::set<unsigned> &events) {
  for (unsigned event : events)
    plan.deathsOf[event].push_back(unsigned(plan.deaths.size()));
  plan.deaths.push_back({range, unsigned(events.size())});
}

void PoisonPlan::Builder::write(unsigned event, const Range &range) {
  if (range.begin == range.end || !isScratch(range.arena))
    return;
  Segments &list = segments[range.arena];
  split(list, range.begin);
  split(list, range.end);
  auto first = list.lower_bound(range.begin), it = first;
  // A value updated in place is never dead: its bytes hold the next one.
  for (; it != list.end() && it->first < range.end; ++it)
    if (!it->second.events.count(event))
      close({range.arena, it->first, it->second.end}, it->second.events);
  list.erase(first, it);
  list.emplace(range.begin, Segment{range.end, {event}});
}

void PoisonPlan::Builder::visitLaunch(const LaunchAction &launch,
                                      unsigned event) {
  auto slotOf = [&](const Operand &operand) {
    return operand.slotted ? launch.slots.at(operand.arena) : 0;
  };
  for (const Command &command : rankJob.programs[launch.program].commands) {
    for (const Operand &operand : command.reads)
      read(event, resolve(operand, slotOf(operand)));
    for (const Operand &operand : command.writes)
      write(event, resolve(operand, slotOf(operand)));
    ++event;
  }
}

void PoisonPlan::Builder::visit(const Schedule &schedule) {
  unsigned events = 0;
  for (const Action &action : schedule.actions) {
    plan.firstEvent.push_back(events);
    auto *launch = std::get_if<LaunchAction>(&action.work);
    events += launch
                  ? unsigned(rankJob.programs[launch->program].commands.size())
                  : 1;
  }
  plan.deathsOf.resize(events);
  for (unsigned i = 0; i < schedule.actions.size(); ++i) {
    const Action &action = schedule.actions[i];
    if (auto *launch = std::get_if<LaunchAction>(&action.work)) {
      visitLaunch(*launch, plan.firstEvent[i]);
    } else if (auto *transfer = std::get_if<TransferAction>(&action.work)) {
      Range range = resolve(transfer->buffer, transfer->slot);
      if (transfer->send)
        read(plan.firstEvent[i], range);
      else
        write(plan.firstEvent[i], range);
    }
  }
  for (unsigned arena : plan.scratch)
    for (const auto &[begin, segment] : segments[arena])
      if (Range range{arena, begin, segment.end}; !plan.isKept(range))
        close(range, segment.events);
}

PoisonPlan::PoisonPlan(const Job &job, const RankJob &rankJob,
                       const Schedule &schedule) {
  const std::vector<Arena> &arenas = job.ranks[rankJob.rank].arenas;
  for (unsigned i = 0; i < arenas.size(); ++i)
    if (arenas[i].kind == "stash" || arenas[i].kind == "boundary" ||
        arenas[i].kind == "workspace")
      scratch.push_back(i);
  for (const Output &output : job.outputs)
    if (output.rank == rankJob.rank)
      kept.push_back({output.ref.arena, output.ref.offset,
                      output.ref.offset + output.ref.bytes});
  Builder(*this, job, rankJob).visit(schedule);
}

bool PoisonPlan::isKept(const Range &range) const {
  return std::ranges::any_of(kept, [&](const Range &each) {
    return each.arena == range.arena && each.begin < range.end &&
           range.begin < each.end;
  });
}

/// All bits set is a NaN in every floating type and out of range as an index.
void PoisonPlan::poison(const Arenas &arenas, const Range &range) {
  std::memset(arenas.base(range.arena) + range.begin, 0xFF,
              size_t(range.end - range.begin));
}

void PoisonPlan::begin(const Arenas &arenas) {
  remaining.clear();
  for (const Death &death : deaths)
    remaining.push_back(death.events);
  for (unsigned arena : scratch)
    std::memset(arenas.base(arena), 0xFF, size_t(arenas.bytes(arena)));
}

void PoisonPlan::complete(unsigned action, unsigned command,
                          const Arenas &arenas) {
  for (unsigned death : deathsOf[firstEvent[action] + command])
    if (--remaining[death] == 0)
      poison(arenas, deaths[death].range);
}
