//===- Liveness.cpp - Who waits for whom, when a rank dies ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/Liveness.h"
#include "Activity.h"
#include "LocalRanks.h"
#include "RankBoard.h"
#include "smp/Support/Signals.h"
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
using Clock = std::chrono::steady_clock;

namespace {
/// The state of the watch; never freed, since a signal handler reads it.
struct Watch {
  std::atomic<RankBoard *> board = nullptr;
  std::atomic<int> ranks = 0;
  int self = 0;
  int ranksHere = -1; ///< on this host, −1: unknown
  int stallSeconds = 60;
  /// Whether the board is one of this process alone, since the ranks are not
  /// connected yet.
  std::atomic<bool> alone = false;
  std::atomic<bool> ending = false; ///< `announceEnd` was called
  /// When the watch last looked: long ago if this process was stopped.
  std::atomic<Clock::rep> lastLook = 0;
  std::atomic<Clock::rep> woke = 0; ///< when that was last so
  std::thread thread;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
};
} // namespace

static Watch &watch() {
  static auto *instance = new Watch;
  return *instance;
}

/// Set once `watch()` exists, for the signal handler.
static std::atomic<Watch *> watchForHandler = nullptr;

/// A rank of this host whose process is gone without notice, or −1.
static int findLost(const Watch &state) {
  const RankBoard *board = state.board.load();
  for (int rank = 0; board && rank < state.ranks.load(); ++rank) {
    const BoardEntry &entry = board->ranks[rank];
    int process = entry.process.load();
    if (process > 0 && !entry.isOver.load() && kill(process, 0) != 0 &&
        errno == ESRCH)
      return rank;
  }
  return -1;
}

/// So long a rank that was stopped knows nothing of the others.
static constexpr std::chrono::seconds wakingTime{10};

/// Whether this process itself was stopped for longer than the others bear.
static bool sleeps(const Watch &state) {
  Clock::duration now = Clock::now().time_since_epoch(),
                  look(state.lastLook.load());
  return look.count() != 0 &&
         now - look > std::chrono::seconds(state.stallSeconds);
}

/// Likewise, or it has just been woken.
static bool hasOverslept(const Watch &state) {
  Clock::duration now = Clock::now().time_since_epoch(),
                  woke(state.woke.load());
  return sleeps(state) || (woke.count() != 0 && now - woke < wakingTime);
}

/// How often an end was asked for.
static std::atomic<int> stopSignals = 0;

/// A loss as the cause on a board.
static int32_t causeOf(const Loss &loss) {
  return loss.rank < 0 ? 0 : (loss.rank + 1) * 2 + loss.isStalled;
}

/// Without a common board a rank that leaves is seen for so long by the others,
/// which look four times a second, for the cause that it names.
static constexpr int visibleMilliseconds = 2000;

/// There is nothing to say, or others have said it. Safe in a signal handler.
[[noreturn]] static void leaveSilently(int pauseMilliseconds) {
  usleep(useconds_t(pauseMilliseconds) * 1000);
  _exit(3);
}

/// Leaves for this reason, or for the one that another rank saw before. Safe
/// in a signal handler.
[[noreturn]] static void leave(const Watch *state, Ending ending, int lost) {
  RankBoard *board = state ? state->board.load() : nullptr;
  if (!board)
    leaveWithActivity(ending, lost);
  board->ranks[state->self].isOver.store(1);
  int pause = state->alone.load() ? visibleMilliseconds : 0;
  int32_t first = board->cause.load(),
          own = causeOf({lost, ending == Ending::Stalled});
  // The view of a rank that was stopped, and woken for its end, is of no use.
  // And a signal that asks for an end ends ranks that have not begun.
  bool isAsked = stopSignals.load() > 0 && (state->alone.load() || lost < 0);
  if (first == 0 && (isAsked || hasOverslept(*state)))
    leaveSilently(pause);
  if (first == 0 && board->cause.compare_exchange_strong(first, own))
    first = own;
  if (first == 0)
    leaveWithActivity(Ending::Terminated, -1, pause);
  lost = first / 2 - 1;
  if (lost == state->self)
    leaveSilently(pause);
  if (state->alone.load())
    publishLoss({lost, first % 2 != 0});
  leaveWithActivity(first % 2 ? Ending::Stalled : Ending::Lost, lost, pause);
}

static void onTerminate(int) {
  const Watch *state = watchForHandler.load();
  // mpirun hurries those that are still leaving when one has left.
  const RankBoard *board = state ? state->board.load() : nullptr;
  if (board && board->ranks[state->self].isOver.load())
    return;
  int lost = state ? findLost(*state) : -1;
  if (state && state->ending.load() && lost < 0)
    return; // likewise, and this one is about to leave
  leave(state, Ending::Lost, lost);
}

static Status useCommonBoard(Comm &comm, Watch &state) {
  SMP_ASSIGN_OR_RETURN(RankBoard * board, connectBoard(comm));
  std::scoped_lock lock(state.mutex);
  state.self = comm.rank();
  state.ranks = comm.size();
  state.board = board;
  state.alone = false;
  return {};
}

/// Fills a board of this process alone with what the system says: which ranks
/// there are, and that those live which are not stopped; and why others leave.
static void lookAround(Watch &state) {
  RankBoard *board = state.board.load();
  int ranks = state.ranks.load(), known = 0;
  for (int rank = 0; rank < ranks; ++rank)
    known += board->ranks[rank].process.load() > 0;
  // The whole list of processes is long: not again when all are known.
  if (state.ranksHere < 0 || known < state.ranksHere)
    for (const LocalRank &found : ranksStartedBy(getppid()))
      if (found.rank < ranks && found.rank != state.self)
        board->ranks[found.rank].process.store(found.process);
  for (int rank = 0; rank < ranks; ++rank) {
    BoardEntry &entry = board->ranks[rank];
    pid_t process = entry.process.load();
    if (process <= 0)
      continue;
    if (stateOf(process, getppid()) != RankState::Stopped)
      entry.beats.fetch_add(1);
    if (Loss loss = publishedLoss(process, getppid());
        loss.rank >= 0 && loss.rank < ranks)
      board->cause.store(causeOf(loss));
  }
}

namespace {
/// When each peer's heart was last seen to beat.
struct Pulse {
  uint64_t beats = 0;
  Clock::time_point seen = Clock::now();
};
} // namespace

/// A peer on this host that has not beaten for too long, or −1.
static int findStalled(const Watch &state, std::vector<Pulse> &pulses) {
  const RankBoard *board = state.board.load();
  Clock::time_point now = Clock::now();
  for (int rank = 0; rank < state.ranks.load(); ++rank) {
    const BoardEntry &entry = board->ranks[rank];
    // One of this host that nobody has seen is a program that ended, or hangs,
    // before it was a rank.
    bool isHere = entry.process.load() ||
                  (state.alone.load() && state.ranksHere == state.ranks.load());
    if (!isHere || entry.isOver.load())
      continue;
    uint64_t beats = entry.beats.load();
    if (beats != pulses[rank].beats)
      pulses[rank] = {beats, now};
    else if (rank != state.self &&
             now - pulses[rank].seen > std::chrono::seconds(state.stallSeconds))
      return rank;
  }
  return -1;
}

static void watchPeers(Watch &state) {
  std::vector<Pulse> pulses;
  std::unique_lock lock(state.mutex);
  for (RankBoard *last = nullptr; !state.stopping && state.board.load();) {
    if (RankBoard *board = state.board.load(); board != last) {
      pulses.assign(state.ranks.load(), Pulse());
      last = board;
    }
    if (sleeps(state)) {
      state.woke = Clock::now().time_since_epoch().count();
      // The others may have been stopped as well, and wake later.
      pulses.assign(state.ranks.load(), Pulse());
    }
    state.lastLook = Clock::now().time_since_epoch().count();
    if (state.alone.load())
      lookAround(state);
    else
      last->ranks[state.self].beats.fetch_add(1);
    // Looking comes after a pause: mpirun tells of a death as well, and when
    // this process itself was stopped, the others need a moment to beat.
    state.wake.wait_for(lock, std::chrono::milliseconds(250));
    if (state.stopping || state.board.load() != last || sleeps(state))
      continue;
    int lost = findLost(state);
    if (lost >= 0 || (state.alone.load() && last->cause.load() != 0))
      leave(&state, Ending::Lost, lost);
    if (int stalled = findStalled(state, pulses); stalled >= 0)
      leave(&state, Ending::Stalled, stalled);
  }
}

/// Ends the watch thread, whose board is not looked at any more.
static void joinWatch(Watch &state) {
  if (!state.thread.joinable())
    return;
  {
    std::scoped_lock lock(state.mutex);
    state.stopping = true;
  }
  state.wake.notify_all();
  state.thread.join();
}

static void beginWatch(Watch &state) {
  state.stopping = false;
  if (!state.thread.joinable())
    state.thread = std::thread([&state] { watchPeers(state); });
}

void runtime::watchStart(const LivenessOptions &options) {
  StartedRank started = readStartedRank();
  setActivityProgram(options.program, started.rank < 0 ? 0 : started.rank);
  setPhase("start of MPI");
  Watch &state = watch();
  state.stallSeconds = options.stallSeconds;
  bool known = started.rank >= 0 && started.rank < started.worldSize;
  if (known && started.worldSize > 1) {
    state.self = started.rank;
    state.ranks = started.worldSize;
    state.ranksHere = started.ranksHere;
    state.alone = true;
    state.board = makeOwnBoard(started.worldSize);
  }
  watchForHandler = &state;
  if (RankBoard *board = state.board.load()) {
    board->ranks[state.self].process.store(getpid());
    beginWatch(state);
  }
  handleSignal(SIGTERM, onTerminate);
  // The ranks end with mpirun, or with whoever started them.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
}

Status runtime::startLiveness(Comm &comm, const LivenessOptions &options) {
  setActivityProgram(options.program, comm.rank());
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> processes,
      comm.allGatherObjects(comm.world(), std::to_string(getpid())));
  bool oneProcess = comm.size() > 1 && processes.front() == processes.back();
  handleSignal(SIGTERM, onTerminate);
  Watch &state = watch();
  if (oneProcess || comm.size() == 1) {
    joinWatch(state);
    state.board = nullptr;
    return {};
  }
  state.stallSeconds = options.stallSeconds;
  SMP_RETURN_IF_ERROR(useCommonBoard(comm, state));
  watchForHandler = &state;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Without a board (no shared memory) mpirun's SIGTERM still ends us.
  if (state.board.load())
    beginWatch(state);
  else
    joinWatch(state);
  return {};
}

void runtime::announceEnd() {
  setPhase("end of MPI");
  watch().ending = true;
}

void runtime::stopLiveness() {
  Watch &state = watch();
  joinWatch(state);
  if (RankBoard *board = state.board.load())
    board->ranks[state.self].isOver.store(1);
}

static void onStop(int signal) {
  if (stopSignals.fetch_add(1) > 0 && signal != SIGUSR1)
    _exit(130);
}

void runtime::installStopHandler(bool isRankOfMpi) {
  for (int signal : {SIGINT, SIGUSR1})
    handleSignal(signal, onStop, SA_RESTART);
  if (!isIgnored(SIGHUP))
    handleSignal(SIGHUP, onStop, SA_RESTART);
  if (!isRankOfMpi)
    handleSignal(SIGTERM, onStop, SA_RESTART);
}

bool runtime::stopRequested() { return stopSignals.load() > 0; }
