//===- Activity.cpp - Records that a signal handler can read --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include <csignal>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

/// Ranks of one process whose records are kept apart.
static constexpr int maxRanks = 64;

static ActivityRecord records[maxRanks][activitySlots];
static std::atomic<uint64_t> sequence = 0;
static std::atomic<int> ranksHere = 1;
static std::atomic<int> firstRank = 0;
static AtomicText<4> program;
static thread_local int recordIndex = 0;

/// With MPI a process has one rank, with threads rank i has records i.
static int indexOfRank(int rank) {
  return ranksHere.load() == 1 ? 0 : rank < maxRanks ? rank : maxRanks - 1;
}

void runtime::setActivityRank(int rank) {
  recordIndex = rank < maxRanks ? rank : maxRanks - 1;
  int known = ranksHere.load();
  while (known <= recordIndex &&
         !ranksHere.compare_exchange_weak(known, recordIndex + 1))
    ;
}

void runtime::setActivityProgram(std::string_view name, int globalRank) {
  program.set(name);
  if (ranksHere.load() == 1)
    firstRank = globalRank;
}

void runtime::setActivity(int slot, const Activity &activity) {
  ActivityRecord &record = records[recordIndex][slot % activitySlots];
  record.peer.store(activity.peer, std::memory_order_relaxed);
  record.microbatch.store(activity.microbatch, std::memory_order_relaxed);
  record.step.store(activity.step, std::memory_order_relaxed);
  record.action.set(activity.action);
  record.location.set(activity.location);
  record.since.store(sequence.fetch_add(1, std::memory_order_relaxed) + 1,
                     std::memory_order_release);
}

void runtime::setActivityPeer(int slot, int peer) {
  records[recordIndex][slot % activitySlots].peer.store(
      peer, std::memory_order_relaxed);
}

void runtime::setPhase(std::string_view what, int64_t step) {
  setActivity(phaseSlot, {.action = what, .step = step});
}

void runtime::clearActivity(int slot) {
  records[recordIndex][slot % activitySlots].since.store(
      0, std::memory_order_release);
}

/// The record that tells most: a wait for the lost rank, else the longest wait
/// for any rank, else what has been going on longest in a queue.
static const ActivityRecord *mostTelling(int rank, int lost) {
  const ActivityRecord *best = nullptr;
  int bestScore = -2;
  uint64_t bestSince = 0;
  for (int slot = 0; slot < activitySlots; ++slot) {
    const ActivityRecord &record = records[indexOfRank(rank)][slot];
    uint64_t since = record.since.load(std::memory_order_acquire);
    if (!since)
      continue;
    int peer = record.peer.load(std::memory_order_relaxed);
    int score = peer >= 0 ? 1 + (peer == lost) : slot == phaseSlot ? -1 : 0;
    if (score > bestScore || (score == bestScore && since < bestSince)) {
      best = &record;
      bestScore = score;
      bestSince = since;
    }
  }
  return best;
}

static void describeRecord(Line &line, const ActivityRecord &record, int lost) {
  char action[65], location[97];
  record.action.get(action);
  record.location.get(location);
  int peer = record.peer.load(std::memory_order_relaxed);
  if (peer < 0)
    line << " during ";
  else if (peer == lost)
    line << " while waiting for it: ";
  else
    line << " while waiting for rank " << int64_t{peer} << ": ";
  line << action;
  int64_t microbatch = record.microbatch.load(std::memory_order_relaxed);
  int64_t step = record.step.load(std::memory_order_relaxed);
  if (microbatch >= 0)
    line << ", microbatch " << microbatch;
  if (step >= 0)
    line << ", step " << step;
  if (*location)
    line << " (" << location << ")";
}

void runtime::describeActivity(Line &line, int rank, Ending ending, int lost) {
  char name[33];
  program.get(name);
  line << (*name ? name : "smp-run") << ": rank " << int64_t{rank} << ": ";
  if (lost < 0)
    line << "terminated";
  else if (lost == rank)
    line << "stopped for so long that the others ended it";
  else
    line << (ending == Ending::Stalled ? "no sign of life from rank "
                                       : "lost rank ")
         << int64_t{lost};
  if (const ActivityRecord *record = mostTelling(rank, lost))
    describeRecord(line, *record, lost);
  else
    line << " while idle";
}

std::string runtime::activityLine(int rank, int lost) {
  Line line;
  describeActivity(line, rank, Ending::Lost, lost);
  return std::string(line.text());
}

static std::atomic<int> lastWords = STDERR_FILENO;

void runtime::sendLastWordsTo(int descriptor) { lastWords = descriptor; }

void runtime::leaveWithActivity(Ending ending, int lost,
                                int pauseMilliseconds) {
  static std::atomic<bool> left = false;
  if (left.exchange(true)) {
    // Another thread is about to say it, and then ends the process.
    usleep(1'000'000);
  } else {
    int count = ranksHere.load();
    // Whoever reads the last words may be gone already.
    std::signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < count; ++i) {
      Line line;
      describeActivity(line, count == 1 ? firstRank.load() : i, ending, lost);
      line << "\n";
      for (int descriptor : {lastWords.load(), STDERR_FILENO})
        if (write(descriptor, line.text().data(), line.text().size()) > 0)
          break;
    }
  }
  if (pauseMilliseconds > 0)
    usleep(useconds_t(pauseMilliseconds) * 1000);
  _exit(3);
}
