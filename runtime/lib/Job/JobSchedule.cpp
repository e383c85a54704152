//===- JobSchedule.cpp - Read and check the schedules of a rank -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobParts.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace smp;
using namespace smp::runtime;

static int64_t readSlot(const JsonCursor &cursor, const Arena &arena) {
  return cursor.integer(0, arena.slots - 1);
}

/// The arenas of which the launch of `program` must choose a slot.
static std::set<unsigned> slottedArenas(const Program &program) {
  std::set<unsigned> result;
  for (const Command &command : program.commands) {
    for (const Operand &operand : command.reads)
      if (operand.slotted)
        result.insert(operand.arena);
    for (const Operand &operand : command.writes)
      if (operand.slotted)
        result.insert(operand.arena);
  }
  return result;
}

static LaunchAction readLaunch(const JsonCursor &cursor, const Job &job,
                               const RankJob &rankJob,
                               const ProgramIndex &programs) {
  LaunchAction launch;
  const std::vector<Arena> &arenas = job.ranks[rankJob.rank].arenas;
  launch.chunk =
      int(cursor["chunk"].integer(-1, int64_t(job.chunkRank.size()) - 1));
  auto it = programs.find({launch.chunk, cursor["program"].text()});
  if (it == programs.end()) {
    cursor["program"].expects(launch.chunk < 0
                                  ? std::string("a program of the rank")
                                  : "a program of chunk " +
                                        std::to_string(launch.chunk) +
                                        ", which this rank must own");
    return launch;
  }
  launch.program = it->second;
  if (cursor.has("slots"))
    for (const auto &[key, value] : cursor["slots"].members()) {
      unsigned arena = 0;
      auto parsed = std::from_chars(key.data(), key.data() + key.size(), arena);
      if (parsed.ec != std::errc() || parsed.ptr != key.data() + key.size() ||
          arena >= arenas.size())
        value.fail("expects the index of an arena as key, got '" + key + "'");
      else
        launch.slots[arena] = readSlot(value, arenas[arena]);
    }
  for (unsigned arena : slottedArenas(rankJob.programs[launch.program]))
    if (!launch.slots.count(arena))
      cursor.fail("expects a slot of arena '" + arenas[arena].name + "' (" +
                  std::to_string(arena) + "), got none");
  return launch;
}

static TransferAction readTransfer(const JsonCursor &cursor, const Job &job,
                                   const RankJob &rankJob, bool send) {
  TransferAction transfer;
  const std::vector<Arena> &arenas = job.ranks[rankJob.rank].arenas;
  transfer.send = send;
  transfer.peer = cursor["peer"].index(job.pp, "a pipeline rank");
  if (transfer.peer == rankJob.rank)
    cursor["peer"].expects("another pipeline rank");
  transfer.edge = cursor["edge"].text();
  transfer.tag = cursor["tag"].integer(0, 1 << 20);
  transfer.buffer = readOperand(cursor["buffer"], arenas);
  if (transfer.buffer.slotted)
    transfer.slot = readSlot(cursor["slot"], arenas[transfer.buffer.arena]);
  return transfer;
}

static LoadAction readLoad(const JsonCursor &cursor, const Job &job,
                           const RankJob &rankJob) {
  LoadAction load;
  load.input = cursor["input"].index(job.inputs.size(), "an input");
  if (load.input >= job.inputs.size())
    return load;
  const auto &consumers = job.inputs[load.input].consumers;
  auto it = consumers.find(rankJob.rank);
  if (it == consumers.end()) {
    cursor["input"].expects("an input that this rank consumes");
    return load;
  }
  load.arena = it->second;
  load.slot =
      readSlot(cursor["slot"], job.ranks[rankJob.rank].arenas[load.arena]);
  return load;
}

Schedule runtime::readSchedule(const JsonCursor &cursor, const Job &job,
                               const RankJob &rankJob,
                               const ProgramIndex &programs) {
  Schedule schedule;
  for (const JsonCursor &each : cursor.elements()) {
    Action action;
    size_t id = schedule.actions.size();
    if (each["id"].integer() != int64_t(id))
      each["id"].expects("its position " + std::to_string(id));
    if (each.has("microbatch"))
      action.microbatch = each["microbatch"].integer(
          0, std::max<int64_t>(job.microbatches * job.accumulation - 1, 0));
    for (const JsonCursor &wait : each["waits"].elements())
      action.waits.push_back(wait.index(id, "an earlier action"));
    std::ranges::sort(action.waits);
    unsigned kind = each["kind"].choice({"launch", "send", "recv", "load"});
    if (kind == 0)
      action.work = readLaunch(each, job, rankJob, programs);
    else if (kind == 3)
      action.work = readLoad(each, job, rankJob);
    else
      action.work = readTransfer(each, job, rankJob, kind == 1);
    schedule.actions.push_back(std::move(action));
  }
  return schedule;
}
