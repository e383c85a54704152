//===- Mpirun.cpp - Starting ranks under mpirun ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineRelay.h"
#include "LocalRanks.h"
#include "smp/Support/Signals.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Comm/MpiTransport.h"
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

/// Whether one process may read another's memory, which MPI uses for long
/// messages. Containers often forbid it, and MPI finds out too late.
static bool crossMemoryWorks() {
  static char here = 'a';
  std::array<int, 2> pipe;
  if (::pipe(pipe.data()) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    close(pipe[1]);
    char byte;
    [[maybe_unused]] ssize_t got = read(pipe[0], &byte, 1); // until it closes
    _exit(0);
  }
  char copy = 0;
  iovec local = {&copy, 1}, remote = {&here, 1};
  bool works =
      child > 0 && process_vm_readv(child, &local, 1, &remote, 1, 0) == 1;
  close(pipe[0]);
  close(pipe[1]);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return works;
}

std::vector<std::string>
runtime::mpirunCommand(int ranks, const std::vector<std::string> &program) {
  std::vector<std::string> command = {
      // Quiet: a rank that ends has said why, in one line.
      "mpirun", "--quiet", "-n", std::to_string(ranks), "--oversubscribe",
      "--allow-run-as-root", "--bind-to", "none", "--mca", "pml", "ob1",
      "--mca", "btl", "self,vader",
      // Seconds between SIGTERM, on which
      // ranks say what they waited for, and
      // SIGKILL: hosts may be busy.
      "--mca", "odls_base_sigkill_timeout", "2"};
  if (!crossMemoryWorks())
    command.insert(command.end(),
                   {"--mca", "btl_vader_single_copy_mechanism", "none"});
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

/// In the child: nothing of the terminal reaches mpirun but through us.
[[noreturn]] static void becomeMpirun(const std::vector<std::string> &command,
                                      pid_t parent, const LineRelay &lines) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(127);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  // Not the handlers and masks of the parent.
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD})
    std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  lines.announce();
  std::vector<char *> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// By which a rank says that all ranks are connected.
static constexpr int connectedSignal = SIGUSR2;

namespace {
/// The signals that end a job, and the end of mpirun, one at a time: none is
/// lost, whenever it comes.
class Signals {
public:
  Signals() {
    std::signal(SIGCHLD, SIG_DFL); // ignored, a child's status would be lost
    sigemptyset(&waited);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, connectedSignal})
      if (!isIgnored(signal))
        sigaddset(&waited, signal);
    sigprocmask(SIG_BLOCK, &waited, &before);
    descriptor = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(descriptor);
  }
  Signals(const Signals &) = delete;

  /// The next one; 0 after so long without one, or when `other` has input.
  int next(std::chrono::milliseconds patience, int other) const {
    std::array<pollfd, 2> ready = {pollfd{descriptor, POLLIN, 0},
                                   pollfd{other, POLLIN, 0}};
    poll(ready.data(), ready.size(), int(patience.count()));
    signalfd_siginfo got = {};
    return read(descriptor, &got, sizeof got) == sizeof got ? int(got.ssi_signo)
                                                            : 0;
  }

private:
  sigset_t waited, before;
  int descriptor;
};
} // namespace

/// What a program ends with that Ctrl-C has ended.
static constexpr int interruptedCode = 130;

namespace {
/// What nobody else ends. The ranks notice one that is stopped, but not when it
/// was stopped on its last steps and they are over. And mpirun itself hangs
/// when a rank dies while it connects to it (Open MPI 4.1).
class RankWatch {
  /// How long mpirun may take for its end when its ranks are gone: it sleeps
  /// for two seconds of its own.
  static constexpr std::chrono::seconds goneFor{5};

public:
  RankWatch(pid_t mpirun, int ranks, int stallSeconds)
      : mpirun(mpirun), ranks(ranks), stallSeconds(stallSeconds) {}

  /// Short until all are known: the list of processes is long.
  std::chrono::milliseconds betweenLooks() const {
    return std::chrono::milliseconds(int(known.size()) < ranks ? 100 : 1000);
  }
  /// From now on mpirun ends when its ranks do, but may still be writing.
  void setConnected() { connected = true; }
  /// Ends mpirun if there is a reason to.
  void look();
  bool hasEnded() const { return ended.has_value(); }

private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    pid_t process;
    Clock::time_point running; ///< when it was last seen not to be stopped
  };

  /// It ends its ranks first, which takes it two seconds.
  void endMpirun(Clock::time_point now) {
    if (!ended)
      kill(mpirun, SIGTERM);
    else if (now - *ended > std::chrono::seconds(5))
      kill(mpirun, SIGKILL);
    ended = ended.value_or(now);
  }

  pid_t mpirun;
  int ranks, stallSeconds;
  std::map<int, Known> known;
  Clock::time_point lastLook, lastAlive = Clock::now();
  bool connected = false;
  std::optional<Clock::time_point> ended; ///< when that was begun
};
} // namespace

void RankWatch::look() {
  Clock::time_point now = Clock::now();
  if (now - lastLook < betweenLooks() / 2)
    return;
  // Stopped with its ranks, which Ctrl-Z, a debugger or the host may do, it
  // does not know how they fared meanwhile.
  if (lastLook != Clock::time_point() &&
      now - lastLook > std::chrono::seconds(stallSeconds))
    for (auto &[rank, entry] : known)
      entry.running = now;
  lastLook = now;
  if (int(known.size()) < ranks)
    for (const LocalRank &found : ranksStartedBy(mpirun))
      known.try_emplace(found.rank, Known{found.process, now});
  for (auto &[rank, entry] : known) {
    RankState state = stateOf(entry.process, mpirun);
    if (state != RankState::Gone)
      lastAlive = now;
    if (state != RankState::Stopped)
      entry.running = now;
    // Later than the ranks themselves would.
    if (now - entry.running <= std::chrono::seconds(stallSeconds + 3))
      continue;
    if (!ended)
      std::fprintf(stderr, "smp-run: no sign of life from rank %d\n", rank);
    return endMpirun(now);
  }
  if (!known.empty() && !connected && now - lastAlive > goneFor) {
    kill(mpirun, SIGKILL); // it does not hear anything else
    ended = now;
  }
}

static constexpr std::chrono::milliseconds retryPause{500};

/// For ranks that outlive an mpirun which was killed, and end then.
static constexpr std::chrono::milliseconds lastWordsPause{1000};

/// Hands signals on until mpirun is over. It ends the job on those that ask for
/// an end, but hands SIGUSR1 to the ranks, which then finish their step; a
/// second one ends the job at once.
static Result<int> waitForMpirun(pid_t child, const Signals &signals,
                                 RankWatch &watch, LineRelay &lines,
                                 int &interrupts) {
  int status = 0;
  std::chrono::steady_clock::time_point lastSent;
  for (int signal = 0;;
       signal = signals.next(watch.betweenLooks(), lines.descriptor())) {
    lines.forward(interrupts > 0);
    bool asks = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    interrupts += asks;
    if (signal == connectedSignal)
      watch.setConnected();
    // Again and again: ranks that are only starting may miss it.
    auto now = std::chrono::steady_clock::now();
    bool again = interrupts > 0 && now - lastSent > retryPause;
    if (asks || (again && !watch.hasEnded())) {
      kill(child, interrupts > 1 ? SIGTERM : SIGUSR1);
      lastSent = now;
    }
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child)
      return status;
    if (ended < 0 && errno != EINTR)
      return Error{std::string("cannot wait for mpirun: ") +
                   std::strerror(errno)};
    watch.look();
  }
}

Result<int> runtime::runUnderMpirun(int ranks,
                                    const std::vector<std::string> &program,
                                    int stallSeconds) {
  Signals signals;
  if (stopRequested())
    return interruptedCode;
  int interrupts = 0;
  std::vector<std::string> command = mpirunCommand(ranks, program);
  LineRelay lines;
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0)
    return Error{std::string("cannot start mpirun: ") + std::strerror(errno)};
  if (child == 0)
    becomeMpirun(command, parent, lines);
  RankWatch watch(child, ranks, stallSeconds);
  SMP_ASSIGN_OR_RETURN(int status,
                       waitForMpirun(child, signals, watch, lines, interrupts));
  lines.forwardRest(interrupts > 0, lastWordsPause);
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  // Ranks that had not begun yet die of the signal.
  if (interrupts > 1 ||
      (interrupts && (code == 128 + SIGUSR1 || watch.hasEnded())))
    return interruptedCode;
  if (code == 127)
    return Error{"cannot start 'mpirun'",
                 "install Open MPI, or use --transport=threads"};
  return watch.hasEnded() && code == 0 ? 1 : code;
}

/// The smp-run that has started mpirun, or −1.
static pid_t findStarter() {
  auto programOf = [](const std::string &process) {
    char path[4096];
    std::string link = "/proc/" + process + "/exe";
    ssize_t length = readlink(link.c_str(), path, sizeof path);
    return length > 0 ? std::string(path, size_t(length)) : std::string();
  };
  pid_t starter = parentOf(getppid());
  std::string own = programOf("self");
  bool isOwn = !own.empty() && own == programOf(std::to_string(starter));
  return starter > 1 && isOwn ? starter : -1;
}

void runtime::tellStarter() {
  if (pid_t starter = findStarter(); starter > 0)
    kill(starter, connectedSignal);
}

int runtime::openLastWords() {
  int relay = openLineRelay(findStarter());
  return relay < 0 ? STDERR_FILENO : relay;
}
