//===- MpirunTest.cpp - Deaths, stalls and signals under mpirun -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/MpiTransport.h"
#include <charconv>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace smp::runtime;
using Clock = std::chrono::steady_clock;

namespace {
/// `Victim start SCENARIO` as a child, its output collected; or a rank of it,
/// whose mpirun this process is.
class Victim {
public:
  explicit Victim(const char *scenario, const char *rank = nullptr) {
    int pipe[2];
    EXPECT_EQ(pipe2(pipe, O_CLOEXEC), 0);
    child = fork();
    if (child == 0) {
      dup2(pipe[1], STDOUT_FILENO);
      dup2(pipe[1], STDERR_FILENO);
      if (!rank)
        execl(SMP_VICTIM, SMP_VICTIM, "start", scenario, nullptr);
      setenv("OMPI_COMM_WORLD_RANK", rank, 1);
      setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
      setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
      execl(SMP_VICTIM, SMP_VICTIM, scenario, nullptr);
      _exit(127);
    }
    close(pipe[1]);
    out = pipe[0];
  }
  ~Victim() {
    close(out);
    if (child > 0) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

  /// Reads until `text` has come `times` times, the end of output, or 60 s.
  bool readUntil(const std::string &text, int times) {
    Clock::time_point end = Clock::now() + std::chrono::seconds(60);
    while (count(text) < times && Clock::now() < end) {
      pollfd entry = {out, POLLIN, 0};
      if (poll(&entry, 1, 100) <= 0)
        continue;
      char buffer[4096];
      ssize_t got = ::read(out, buffer, sizeof buffer);
      if (got <= 0)
        break;
      output.append(buffer, got);
    }
    return count(text) >= times;
  }
  /// The rest of the output and the exit code.
  int finish() {
    readUntil("\x01 never printed", 1);
    int status = 0;
    waitpid(child, &status, 0);
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int count(const std::string &text) const {
    int found = 0;
    for (size_t at = output.find(text); at != std::string::npos;
         at = output.find(text, at + 1))
      ++found;
    return found;
  }
  /// Ranks that are still there, after up to 15 s of patience.
  int orphans() const {
    int alive = 0;
    for (int tries = 0; tries < 150; ++tries) {
      alive = 0;
      for (size_t at = output.find("process "); at != std::string::npos;
           at = output.find("process ", at + 1)) {
        pid_t process = 0;
        std::from_chars(&output[at + 8], output.data() + output.size(),
                        process);
        alive += process > 0 && kill(process, 0) == 0;
      }
      if (!alive)
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return alive;
  }
  void signal(int number) const { kill(child, number); }

  std::string output;

private:
  pid_t child = 0;
  int out = -1;
};
} // namespace

static const char *const waitsForIt =
    "victim: rank 1: lost rank 2 while waiting for it: recv act.c0-c1, "
    "microbatch 3, step 12 (model.py:31)\n";
static const char *const waitsForAnother =
    "victim: rank 0: lost rank 2 while waiting for rank 1: recv act.c0-c1, "
    "microbatch 3, step 12 (model.py:31)\n";

TEST(Mpirun, EverySurvivorSaysWhoItWaitedForWhenARankIsKilled) {
  Victim victim("kill");
  ASSERT_TRUE(victim.readUntil("process ", 3)) << victim.output;
  Clock::time_point begin = Clock::now();
  EXPECT_NE(victim.finish(), 0);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(victim.count(waitsForIt), 1) << victim.output;
  EXPECT_EQ(victim.count(waitsForAnother), 1) << victim.output;
  EXPECT_EQ(victim.orphans(), 0);
}

TEST(Mpirun, ARankThatLeavesIsMissed) {
  Victim victim("leave");
  EXPECT_NE(victim.finish(), 0);
  EXPECT_EQ(victim.count(waitsForIt), 1) << victim.output;
  EXPECT_EQ(victim.orphans(), 0);
}

TEST(Mpirun, WhoStartsLaterIsToldWhoWasLost) {
  Victim lost("connecting", "2"), first("connecting", "0");
  ASSERT_TRUE(lost.readUntil("process ", 1)) << lost.output;
  ASSERT_TRUE(first.readUntil("process ", 1)) << first.output;
  // It looks four times a second.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  lost.signal(SIGKILL);
  lost.finish();
  EXPECT_TRUE(first.readUntil("rank 0: lost rank 2 during start of MPI\n", 1))
      << first.output;
  Victim late("connecting", "1");
  EXPECT_TRUE(late.readUntil("rank 1: lost rank 2 during start of MPI\n", 1))
      << late.output;
  EXPECT_EQ(first.finish(), 3);
  EXPECT_EQ(late.finish(), 3);
}

TEST(Mpirun, AStalledRankEndsTheJob) {
  Victim victim("stall");
  EXPECT_NE(victim.finish(), 0);
  // Whoever notices first, the others name the same cause, not that one's end.
  EXPECT_EQ(
      victim.count("rank 1: no sign of life from rank 2 while waiting for "
                   "it: recv act.c0-c1, microbatch 3"),
      1)
      << victim.output;
  EXPECT_EQ(victim.count("lost rank"), 0) << victim.output;
  EXPECT_EQ(victim.orphans(), 0);
}

TEST(Mpirun, AnErrorOfOneRankReachesAll) {
  Victim victim("abort");
  EXPECT_NE(victim.finish(), 0);
  EXPECT_EQ(victim.count("rank 2: loss is nan\n"), 1) << victim.output;
  EXPECT_EQ(victim.count("rank 0: rank 2 stopped: loss is nan\n"), 1)
      << victim.output;
  EXPECT_EQ(victim.count("rank 1: rank 2 stopped: loss is nan\n"), 1)
      << victim.output;
  EXPECT_EQ(victim.orphans(), 0);
}

TEST(Mpirun, SizesThatDifferAreAnError) {
  Victim victim("mismatch");
  EXPECT_NE(victim.finish(), 0);
  EXPECT_EQ(victim.count("rank 1: cannot receive over MPI"), 1)
      << victim.output;
  EXPECT_EQ(victim.orphans(), 0);
}

TEST(Mpirun, SignalsFinishTheStepOnAllRanks) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Victim victim("steps");
    ASSERT_TRUE(victim.readUntil("process ", 3)) << victim.output;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    victim.signal(signal);
    EXPECT_EQ(victim.finish(), 0) << signal;
    EXPECT_EQ(victim.count(" finished early\n"), 3) << victim.output;
  }
}

TEST(Mpirun, ASecondSignalEndsAllRanks) {
  Victim victim("steps");
  ASSERT_TRUE(victim.readUntil("process ", 3)) << victim.output;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  victim.signal(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  victim.signal(SIGTERM);
  EXPECT_EQ(victim.finish(), 130);
  EXPECT_EQ(victim.orphans(), 0);
}

TEST(Mpirun, RanksDieWithWhoStartedThem) {
  Victim victim("steps");
  ASSERT_TRUE(victim.readUntil("process ", 3)) << victim.output;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  victim.signal(SIGKILL);
  victim.finish();
  EXPECT_EQ(victim.orphans(), 0);
}
