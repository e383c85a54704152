//===- Victim.cpp - Ranks that come to grief, for MpirunTest --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Victim start SCENARIO` starts three ranks under mpirun, as smp-run does;
// `Victim SCENARIO` is such a rank. Every rank prints its process id first.
// With `connecting` MPI never comes about.
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Comm/MpiTransport.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

static void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Rank 0 waits for 1, rank 1 for 2; rank 2 is what the scenario is about.
static Status chain(Comm &comm, const char *scenario) {
  char token = 0;
  if (comm.rank() < 2) {
    setActivity(0, {.action = "forward", .microbatch = 3, .step = 12});
    setActivity(1, {.action = "recv act.c0-c1",
                    .peer = comm.rank() + 1,
                    .microbatch = 3,
                    .step = 12,
                    .location = "model.py:31"});
    return comm.wait(comm.receive(comm.rank() + 1, 0, &token, 1));
  }
  pause(300);
  if (!std::strcmp(scenario, "kill"))
    raise(SIGKILL);
  if (!std::strcmp(scenario, "stall"))
    raise(SIGSTOP);
  if (!std::strcmp(scenario, "leave"))
    _exit(7);
  if (!std::strcmp(scenario, "abort"))
    return Error{"loss is nan"};
  if (!std::strcmp(scenario, "mismatch"))
    return comm.wait(comm.send(1, 0, "long", 4));
  pause(60000);
  return {};
}

/// Steps until it is asked to end; all ranks end after the same one.
static Status steps(Comm &comm) {
  int64_t stop = 0, step = 0;
  for (; !stop && step < 600; ++step) {
    pause(100);
    stop = stopRequested();
    SMP_RETURN_IF_ERROR(
        comm.wait(comm.allReduce(comm.world(), DataType::I64, &stop, 1)));
  }
  std::printf("rank %d finished%s\n", comm.rank(), stop ? " early" : "");
  return {};
}

static void sayProcess() {
  std::printf("process %d\n", getpid());
  std::fflush(stdout);
}

static int runRank(const char *scenario) {
  if (!std::strcmp(scenario, "connecting")) {
    watchStart({"victim", 60});
    sayProcess();
    pause(60000);
    return 0;
  }
  Result<std::unique_ptr<Comm>> comm = createMpiComm();
  if (!comm)
    return 1;
  installStopHandler(/*isRankOfMpi=*/true);
  sendLastWordsTo(openLastWords());
  sayProcess();
  Status status = startLiveness(**comm, {"victim", 2});
  if (status && (*comm)->rank() == 0)
    tellStarter();
  if (status)
    status = std::strcmp(scenario, "steps") ? chain(**comm, scenario)
                                            : steps(**comm);
  if (!status) {
    (*comm)->abort(status.error());
    std::fprintf(stderr, "rank %d: %s\n", (*comm)->rank(),
                 status.error().str().c_str());
    stopLiveness();
    failMpi(1);
  }
  stopLiveness();
  comm->reset();
  finalizeMpi();
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2)
    return runRank(argv[1]);
  if (argc != 3)
    return 2;
  Result<int> code = runUnderMpirun(3, {argv[0], argv[2]});
  if (!code) {
    std::fprintf(stderr, "%s\n", code.error().str().c_str());
    return 1;
  }
  return *code;
}
