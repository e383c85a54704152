//===- Liveness.cpp - Who waits for whom, when a rank dies ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/Liveness.h"
#include "Activity.h"
#include "smp/Support/Signals.h"
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
using Clock = std::chrono::steady_clock;

namespace {
/// A rank on the board that the ranks of a host share.
struct BoardEntry {
  std::atomic<int32_t> process; ///< 0: on another host
  std::atomic<int32_t> isOver;  ///< it leaves in order
  std::atomic<uint64_t> beats;
};

/// What the ranks of a host share; zero at the start.
struct Board {
  /// Why the job ends, as the first survivor saw it; 0: it does
  /// not. What follows from that end is no cause.
  std::atomic<int32_t> cause;
  BoardEntry ranks[];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// The state of the watch; never freed, since a signal handler reads it.
struct Watch {
  std::atomic<Board *> board = nullptr;
  std::atomic<int> ranks = 0;
  int self = 0;
  int stallSeconds = 60;
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
  const Board *board = state.board.load();
  for (int rank = 0; board && rank < state.ranks.load(); ++rank) {
    const BoardEntry &entry = board->ranks[rank];
    int process = entry.process.load();
    if (process > 0 && !entry.isOver.load() && kill(process, 0) != 0 &&
        errno == ESRCH)
      return rank;
  }
  return -1;
}

/// Leaves for this reason, or for the one that another rank saw before. Safe
/// in a signal handler.
[[noreturn]] static void leave(const Watch *state, Ending ending, int lost) {
  Board *board = state ? state->board.load() : nullptr;
  if (!board)
    leaveWithActivity(ending, lost);
  int32_t first = 0,
          own = lost < 0 ? 0 : (lost + 1) * 2 + (ending == Ending::Stalled);
  if (board->cause.compare_exchange_strong(first, own))
    first = own;
  board->ranks[state->self].isOver.store(1);
  if (first == 0)
    leaveWithActivity(Ending::Terminated, -1);
  leaveWithActivity(first % 2 ? Ending::Stalled : Ending::Lost, first / 2 - 1);
}

static void onTerminate(int) {
  const Watch *state = watchForHandler.load();
  // mpirun hurries those that are still leaving when one has left.
  const Board *board = state ? state->board.load() : nullptr;
  if (board && board->ranks[state->self].isOver.load())
    return;
  leave(state, Ending::Lost, state ? findLost(*state) : -1);
}

/// What tells hosts, and containers on one host, apart.
static std::string hostIdentity() {
  char host[256] = "", space[256] = "";
  gethostname(host, sizeof host - 1);
  [[maybe_unused]] ssize_t length =
      readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return std::string(host) + " " + space;
}

static Board *mapBoard(const std::string &name, int ranks, bool create) {
  int descriptor =
      shm_open(name.c_str(), create ? O_CREAT | O_EXCL | O_RDWR : O_RDWR, 0600);
  if (descriptor < 0)
    return nullptr;
  size_t bytes = sizeof(Board) + sizeof(BoardEntry) * ranks;
  void *memory = MAP_FAILED;
  if (!create || ftruncate(descriptor, static_cast<off_t>(bytes)) == 0)
    memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return memory == MAP_FAILED ? nullptr : static_cast<Board *>(memory);
}

/// Makes the board of this host: its lowest rank creates it, the others open
/// it, then its name goes away, so nothing is left behind whatever happens.
static Status connectBoard(Comm &comm, Watch &state) {
  int self = comm.rank();
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> hosts,
                       comm.allGatherObjects(comm.world(), hostIdentity()));
  int leader = 0;
  while (hosts[leader] != hosts[self])
    ++leader;
  std::string name;
  Board *board = nullptr;
  if (leader == self) {
    name = "/smp-" + std::to_string(getpid()) + "-" +
           std::to_string(Clock::now().time_since_epoch().count());
    board = mapBoard(name, comm.size(), true);
  }
  SMP_ASSIGN_OR_RETURN(std::vector<std::string> names,
                       comm.allGatherObjects(comm.world(), name));
  if (leader != self)
    board = mapBoard(names[leader], comm.size(), false);
  if (board)
    board->ranks[self].process.store(getpid());
  Status complete = comm.wait(comm.barrier(comm.world()));
  if (leader == self)
    shm_unlink(name.c_str());
  if (!complete)
    return complete;
  // Without a board (no shared memory) mpirun's SIGTERM still ends us.
  state.self = self;
  state.ranks = comm.size();
  state.board = board;
  return {};
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
  const Board *board = state.board.load();
  Clock::time_point now = Clock::now();
  for (int rank = 0; rank < state.ranks.load(); ++rank) {
    const BoardEntry &entry = board->ranks[rank];
    if (!entry.process.load() || entry.isOver.load())
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
  std::vector<Pulse> pulses(state.ranks.load());
  std::unique_lock lock(state.mutex);
  while (!state.stopping) {
    state.board.load()->ranks[state.self].beats.fetch_add(1);
    // Looking comes after a pause: mpirun tells of a death as well, and when
    // this process itself was stopped, the others need a moment to beat.
    state.wake.wait_for(lock, std::chrono::milliseconds(250));
    if (state.stopping)
      return;
    if (int lost = findLost(state); lost >= 0)
      leave(&state, Ending::Lost, lost);
    if (int stalled = findStalled(state, pulses); stalled >= 0)
      leave(&state, Ending::Stalled, stalled);
  }
}

Status runtime::startLiveness(Comm &comm, const LivenessOptions &options) {
  setActivityProgram(options.program, comm.rank());
  SMP_ASSIGN_OR_RETURN(
      std::vector<std::string> processes,
      comm.allGatherObjects(comm.world(), std::to_string(getpid())));
  bool oneProcess = comm.size() > 1 && processes.front() == processes.back();
  handleSignal(SIGTERM, onTerminate);
  if (oneProcess || comm.size() == 1)
    return {};
  Watch &state = watch();
  state.stallSeconds = options.stallSeconds;
  SMP_RETURN_IF_ERROR(connectBoard(comm, state));
  watchForHandler = &state;
  // The ranks end with mpirun, or with whoever started them.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!state.board.load())
    return {};
  state.stopping = false;
  state.thread = std::thread([&state] { watchPeers(state); });
  return {};
}

void runtime::stopLiveness() {
  Watch *state = watchForHandler.load();
  if (!state || !state->thread.joinable())
    return;
  {
    std::scoped_lock lock(state->mutex);
    state->stopping = true;
  }
  state->wake.notify_all();
  state->thread.join();
  state->board.load()->ranks[state->self].isOver.store(1);
}

static std::atomic<int> stopSignals = 0;

static void onStop(int signal) {
  if (stopSignals.fetch_add(1) > 0 && signal == SIGINT)
    _exit(130);
}

void runtime::installStopHandler() {
  handleSignal(SIGINT, onStop, SA_RESTART);
  handleSignal(SIGUSR1, onStop, SA_RESTART);
}

bool runtime::stopRequested() { return stopSignals.load() > 0; }
