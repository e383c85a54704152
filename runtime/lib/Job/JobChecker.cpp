//===- JobChecker.cpp - Proves that conflicting accesses are ordered ------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Job/JobChecker.h"
#include "smp/runtime/Job/JobReader.h"

#include <algorithm>
#include <set>

using namespace smp;
using namespace smp::runtime;

namespace {

/// Which members of a list come before which, whatever happens.
class Order {
public:
  explicit Order(size_t size)
      : words((size + 63) / 64), before(size, std::vector<uint64_t>(words)) {}

  /// `first` < `second` in the list, and everything before `first` is added:
  /// edges are added in ascending order of `second`.
  void add(unsigned first, unsigned second) {
    for (size_t i = 0; i < words; ++i)
      before[second][i] |= before[first][i];
    before[second][first / 64] |= uint64_t(1) << (first % 64);
  }
  bool isBefore(unsigned first, unsigned second) const {
    return before[second][first / 64] >> (first % 64) & 1;
  }

private:
  size_t words;
  std::vector<std::vector<uint64_t>> before;
};

/// Resolves operands of one rank to bytes of its arenas.
struct Memory {
  const std::vector<Arena> &arenas;

  int64_t begin(const Operand &operand, int64_t slot) const {
    return operand.offset +
           (operand.slotted ? slot * arenas[operand.arena].stride : 0);
  }
};

/// The accesses so far of one arena, as disjoint segments: the last write and
/// the reads since.
class History {
public:
  /// Calls `report(earlier, begin, end)` for every access that conflicts with
  /// a new one of [begin, end), then adds it.
  template <typename Report>
  void access(const AccessPoint &point, int64_t begin, int64_t end,
              Report report) {
    if (begin >= end)
      return;
    fillGaps(begin, end);
    for (auto it = segments.find(begin);
         it != segments.end() && it->first < end; ++it) {
      Segment &segment = it->second;
      if (segment.writer)
        report(*segment.writer, it->first, segment.end);
      if (!point.write) {
        segment.readers.push_back(point);
        continue;
      }
      for (const AccessPoint &reader : segment.readers)
        report(reader, it->first, segment.end);
      segment.readers.clear();
      segment.writer = point;
    }
  }

private:
  struct Segment {
    int64_t end = 0;
    std::optional<AccessPoint> writer;
    std::vector<AccessPoint> readers;
  };

  void split(int64_t at) {
    auto it = segments.upper_bound(at);
    if (it == segments.begin())
      return;
    --it;
    if (it->first == at || it->second.end <= at)
      return;
    Segment right = it->second;
    it->second.end = at;
    segments.emplace(at, std::move(right));
  }
  /// Afterwards segments cover [begin, end) exactly.
  void fillGaps(int64_t begin, int64_t end) {
    split(begin);
    split(end);
    int64_t at = begin;
    while (at < end) {
      auto it = segments.lower_bound(at);
      if (it != segments.end() && it->first == at) {
        at = it->second.end;
        continue;
      }
      int64_t next = it == segments.end() ? end : std::min(it->first, end);
      segments.emplace(at, Segment{next, {}, {}});
      at = next;
    }
  }

  std::map<int64_t, Segment> segments;
};

class Checker {
public:
  Checker(const Job &job, const RankJob &rankJob, const Schedule &schedule)
      : rankJob(rankJob), schedule(schedule),
        memory{job.ranks[rankJob.rank].arenas},
        actionOrder(schedule.actions.size()) {
    for (const Input &input : job.inputs) {
      int64_t bytes = job.microbatchRows * byteWidth(input.spec.type);
      for (int64_t extent : input.spec.rowShape)
        bytes *= extent;
      inputBytes.push_back(bytes);
    }
  }

  std::vector<Conflict> run();

private:
  void orderActions();
  void checkProgram(unsigned action, const LaunchAction &launch);
  void checkActions();
  void visitLaunch(unsigned action, const LaunchAction &launch,
                   std::vector<History> &histories,
                   const std::set<unsigned> &arenas);
  bool isOrdered(const AccessPoint &first, const AccessPoint &second) const {
    // Launches exclude each other; inside one, checkProgram looks.
    return (first.command >= 0 && second.command >= 0) ||
           first.action == second.action ||
           actionOrder.isBefore(first.action, second.action);
  }
  void access(std::vector<History> &histories, const Operand &operand,
              int64_t slot, const AccessPoint &point);

  const RankJob &rankJob;
  const Schedule &schedule;
  Memory memory;
  Order actionOrder;
  std::vector<int64_t> inputBytes;
  std::vector<Conflict> conflicts;
};

} // namespace

static Order orderCommands(const Program &program) {
  Order order(program.commands.size());
  std::map<unsigned, unsigned> lastOfGroup;
  for (unsigned i = 0; i < program.commands.size(); ++i) {
    const Command &command = program.commands[i];
    for (unsigned wait : command.waits)
      order.add(wait, i);
    if (command.queue.kind != Queue::Group)
      continue;
    if (auto it = lastOfGroup.find(command.queue.group);
        it != lastOfGroup.end())
      order.add(it->second, i);
    lastOfGroup[command.queue.group] = i;
  }
  return order;
}

void Checker::orderActions() {
  std::map<std::pair<int, int>, unsigned> lastOfQueue;
  for (unsigned i = 0; i < schedule.actions.size(); ++i) {
    const Action &action = schedule.actions[i];
    for (unsigned wait : action.waits)
      actionOrder.add(wait, i);
    std::pair<int, int> queue{-1, 0}; // launches
    if (auto *transfer = std::get_if<TransferAction>(&action.work))
      queue = {int(transfer->peer), transfer->send};
    else if (std::holds_alternative<LoadAction>(action.work))
      continue;
    if (auto it = lastOfQueue.find(queue); it != lastOfQueue.end())
      actionOrder.add(it->second, i);
    lastOfQueue[queue] = i;
  }
}

/// Two accesses of different commands of one launch.
void Checker::checkProgram(unsigned action, const LaunchAction &launch) {
  const Program &program = rankJob.programs[launch.program];
  Order order = orderCommands(program);
  std::map<unsigned, History> histories;
  for (unsigned i = 0; i < program.commands.size(); ++i) {
    auto visit = [&](const Operand &operand, bool write) {
      int64_t slot = operand.slotted ? launch.slots.at(operand.arena) : 0;
      int64_t begin = memory.begin(operand, slot);
      AccessPoint point{action, int(i), write};
      histories[operand.arena].access(
          point, begin, begin + operand.bytes,
          [&](const AccessPoint &earlier, int64_t from, int64_t to) {
            if (earlier.command != point.command &&
                !order.isBefore(unsigned(earlier.command), i))
              conflicts.push_back(
                  {earlier, point, operand.arena, from, to - from});
          });
    };
    for (const Operand &operand : program.commands[i].reads)
      visit(operand, false);
    for (const Operand &operand : program.commands[i].writes)
      visit(operand, true);
  }
}

void Checker::access(std::vector<History> &histories, const Operand &operand,
                     int64_t slot, const AccessPoint &point) {
  int64_t begin = memory.begin(operand, slot);
  histories[operand.arena].access(
      point, begin, begin + operand.bytes,
      [&](const AccessPoint &earlier, int64_t from, int64_t to) {
        if (!isOrdered(earlier, point))
          conflicts.push_back({earlier, point, operand.arena, from, to - from});
      });
}

void Checker::visitLaunch(unsigned action, const LaunchAction &launch,
                          std::vector<History> &histories,
                          const std::set<unsigned> &arenas) {
  const Program &program = rankJob.programs[launch.program];
  for (unsigned i = 0; i < program.commands.size(); ++i) {
    auto visit = [&](const Operand &operand, bool write) {
      if (arenas.count(operand.arena))
        access(histories, operand,
               operand.slotted ? launch.slots.at(operand.arena) : 0,
               {action, int(i), write});
    };
    for (const Operand &operand : program.commands[i].reads)
      visit(operand, false);
    for (const Operand &operand : program.commands[i].writes)
      visit(operand, true);
  }
}

/// Accesses of different actions; only arenas that transfers and loads touch
/// matter, because launches exclude each other.
void Checker::checkActions() {
  std::set<unsigned> arenas;
  for (const Action &action : schedule.actions)
    if (auto *transfer = std::get_if<TransferAction>(&action.work))
      arenas.insert(transfer->buffer.arena);
    else if (auto *load = std::get_if<LoadAction>(&action.work))
      arenas.insert(load->arena);
  std::vector<History> histories(memory.arenas.size());
  for (unsigned i = 0; i < schedule.actions.size(); ++i) {
    const Action &action = schedule.actions[i];
    if (auto *launch = std::get_if<LaunchAction>(&action.work)) {
      visitLaunch(i, *launch, histories, arenas);
    } else if (auto *transfer = std::get_if<TransferAction>(&action.work)) {
      access(histories, transfer->buffer, transfer->slot,
             {i, -1, !transfer->send});
    } else {
      const auto &load = std::get<LoadAction>(action.work);
      access(histories, {load.arena, 0, inputBytes[load.input], true},
             load.slot, {i, -1, true});
    }
  }
}

std::vector<Conflict> Checker::run() {
  orderActions();
  std::set<std::pair<unsigned, std::map<unsigned, int64_t>>> seen;
  std::set<unsigned> reported;
  for (unsigned i = 0; i < schedule.actions.size(); ++i) {
    auto *launch = std::get_if<LaunchAction>(&schedule.actions[i].work);
    if (!launch || reported.count(launch->program) ||
        !seen.insert({launch->program, launch->slots}).second)
      continue;
    size_t before = conflicts.size();
    checkProgram(i, *launch);
    if (conflicts.size() > before)
      reported.insert(launch->program);
  }
  checkActions();
  return std::move(conflicts);
}

std::vector<Conflict> runtime::findConflicts(const Job &job,
                                             const RankJob &rankJob,
                                             const Schedule &schedule) {
  return Checker(job, rankJob, schedule).run();
}

static std::string describe(const AccessPoint &point, const RankJob &rankJob,
                            const Schedule &schedule) {
  const Action &action = schedule.actions[point.action];
  std::string text = "action " + std::to_string(point.action);
  if (auto *launch = std::get_if<LaunchAction>(&action.work)) {
    const Program &program = rankJob.programs[launch->program];
    text += " ('" + program.name + "' of chunk " +
            std::to_string(launch->chunk) + ") command " +
            std::to_string(point.command);
    if (const std::string &location = program.commands[point.command].location;
        !location.empty())
      text += " (" + location + ")";
  } else if (auto *transfer = std::get_if<TransferAction>(&action.work)) {
    text += (transfer->send ? " (send " : " (recv ") + transfer->edge + ")";
  } else {
    text += " (load)";
  }
  return text + (point.write ? " writes" : " reads");
}

std::string Conflict::str(const Job &job, const RankJob &rankJob,
                          const Schedule &schedule) const {
  return "rank " + std::to_string(rankJob.rank) + ": " +
         describe(first, rankJob, schedule) + " and " +
         describe(second, rankJob, schedule) + " " + std::to_string(bytes) +
         " bytes at offset " + std::to_string(offset) + " of arena '" +
         job.ranks[rankJob.rank].arenas[arena].name + "' in no order";
}

Status runtime::checkOrder(const Job &job) {
  for (unsigned rank = 0; rank < job.pp; ++rank) {
    SMP_ASSIGN_OR_RETURN(RankJob rankJob, readRankJob(job, rank));
    for (const Schedule *schedule :
         {&rankJob.train, &rankJob.evaluate, &rankJob.predict}) {
      std::vector<Conflict> conflicts = findConflicts(job, rankJob, *schedule);
      if (!conflicts.empty())
        return Error{"expects waits that order all accesses, got " +
                     conflicts.front().str(job, rankJob, *schedule)};
    }
  }
  return {};
}
