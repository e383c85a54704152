//===- smp-run.cpp - Executes a job ---------------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LastWords.h"
#include "PrintRanks.h"
#include "RankMain.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Comm/MpiTransport.h"
#include "smp/runtime/Comm/ThreadTransport.h"
#include "smp/runtime/Job/JobReader.h"
#include "smp/runtime/Session/Session.h"

#include <atomic>
#include <cstdlib>
#include <unistd.h>

using namespace smp;
using namespace smp::run;
using namespace smp::runtime;

namespace {
enum ExitCode { Done = 0, Failed = 1, WrongUsage = 2, Stopped = 130 };
} // namespace

static int report(const Error &error, int code) {
  std::fprintf(stderr, "smp-run: error: %s\n", error.str().c_str());
  return code;
}

/// What a command prints that does nothing else.
static int printAlone(const std::string &text) {
  Status status = print(text);
  return status ? Done : report(status.error(), Failed);
}

/// Whether another rank said why it stopped, or all ranks have this error.
static bool isSaidElsewhere(const Error &error, const Comm &comm) {
  if (isAgreed(error))
    return comm.rank() != 0;
  size_t stopped = error.message.find(" stopped: ");
  return stopped != std::string::npos &&
         error.message.find("rank " + std::to_string(comm.rank()) +
                            " stopped: ") == std::string::npos;
}

/// Ends here if a rank is a program that does not know these words.
static int compareWithOthers(int seconds) {
  BuildComparison builds = compareBuilds(seconds);
  if (builds.status)
    return Done;
  if (!builds.isSaidByRankZero)
    report(builds.status.error(), Failed);
  if (!builds.allSpoke)
    failMpi(Failed);
  return Failed;
}

static int runAsMpiRank(const Options &options) {
  LivenessOptions liveness{"smp-run", options.stallTimeout};
  sendLastWordsTo(openLastWords());
  watchStart(liveness);
  auto comm = createMpiComm();
  if (!comm)
    return report(comm.error(), Failed);
  if (int code = compareWithOthers(options.stallTimeout); code != Done) {
    stopLiveness(); // whoever has ended MPI first is not lost
    comm->reset();
    finalizeMpi();
    return code;
  }
  int code = Done;
  if (Status status = startLiveness(**comm, liveness); !status)
    return report(status.error(), Failed);
  if ((*comm)->rank() == 0)
    tellStarter();
  Result<bool> stopped = runRank(options, **comm);
  if (!stopped) {
    code = Failed;
    if (!isSaidElsewhere(stopped.error(), **comm))
      report(stopped.error(), Failed);
    // What all know stops nobody: a rank that is told of it before it has come
    // so far itself would take it for another's error, and nobody would say it.
    if (!isAgreed(stopped.error()))
      (*comm)->abort(stopped.error());
  } else if (*stopped) {
    code = Stopped;
  }
  announceEnd();
  comm->reset();
  finalizeMpi();
  stopLiveness();
  return code;
}

static int runAsThreads(const Options &options, int ranks) {
  std::atomic<bool> stopped{false};
  Status status = runThreads(ranks, [&](Comm &comm) -> Status {
    SMP_ASSIGN_OR_RETURN(bool stoppedHere, runRank(options, comm));
    if (stoppedHere)
      stopped.store(true);
    return {};
  });
  if (!status)
    return report(status.error(), Failed);
  return stopped.load() ? Stopped : Done;
}

static int startMpirun(const Options &options, int ranks) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  std::vector<std::string> program = {
      length > 0 ? std::string(path, size_t(length)) : "smp-run"};
  // A word of its own that is ':' would begin another program of mpirun's.
  for (const std::string &word : options.words)
    program.push_back(word == ":" ? "./:" : word);
  auto code = runUnderMpirun(ranks, program, options.stallTimeout);
  return code ? *code : report(code.error(), Failed);
}

/// More than a host carries; a mistyped number must not start that many.
static constexpr int mostRanksHere = 1024;

/// The number of ranks outside mpirun, checked before they are started.
static Result<int> chooseRanks(const Options &options) {
  if (options.printRanks) {
    SMP_ASSIGN_OR_RETURN(Grid grid, gridOf(options, {}));
    return grid.worldSize();
  }
  SMP_ASSIGN_OR_RETURN(Job job, readJob(options.job));
  int ranks = options.ranks.value_or(int(job.pp * job.tp));
  if (ranks > mostRanksHere)
    return Error{"expects at most " + std::to_string(mostRanksHere) +
                     " ranks on one host, got " + std::to_string(ranks),
                 "start more with mpirun, on several hosts"};
  SMP_RETURN_IF_ERROR(
      Grid::create(job.placement, int(job.pp), int(job.tp), ranks));
  return ranks;
}

/// An option that another one needs, or that nothing would use.
static Error needs(const char *option, const char *other) {
  return Error{"option '--" + std::string(option) + "' expects '--" + other +
               "', got none"};
}

static std::optional<Error> checkUsage(const Options &options) {
  if (options.printRanks && !options.job.empty())
    return Error{"expects a job folder or '--print-ranks', got both"};
  if (options.printRanks)
    return std::nullopt;
  if (!options.configFlags.empty())
    return Error{"option '" + options.configFlags[0] +
                     "' expects '--print-ranks': a job is compiled with its "
                     "configuration",
                 "give it to smp-compile"};
  if (options.job.empty())
    return Error{"expects a job folder, got none", "see smp-run --help"};
  if (!options.steps && options.evalData.empty() && options.generate == 0 &&
      options.dumpParameters.empty())
    return Error{"expects '--steps', '--eval-data', '--generate' or "
                 "'--dump-parameters', got none"};
  if (options.saveEvery > 0 && options.checkpointDirectory.empty())
    return needs("save-every", "checkpoint-dir");
  if (options.resume && options.checkpointDirectory.empty())
    return needs("resume", "checkpoint-dir");
  if (options.resume && !options.init.empty())
    return Error{"expects '--resume' or '--init', got both"};
  if (options.evalEvery > 0 && options.evalData.empty())
    return needs("eval-every", "eval-data");
  if (!options.config.empty())
    return needs("config", "print-ranks");
  if (options.generate == 0 && !options.prompt.empty())
    return needs("prompt", "generate");
  if (options.generate == 0 && options.temperature > 0)
    return needs("temperature", "generate");
  if (!options.steps && !options.data.empty())
    return needs("data", "steps");
  return std::nullopt;
}

int main(int argc, char **argv) {
  installLastWords();
  auto options = parseOptions({argv + 1, argv + argc});
  if (!options)
    return report(options.error(), WrongUsage);
  if (options->help)
    return printAlone(helpText());
  if (options->version)
    return printAlone("smp-run 0.1.0\n");
  if (auto error = checkUsage(*options))
    return report(*error, WrongUsage);
  bool isRankOfMpi = underMpi() && options->transport == "mpi";
  installStopHandler(isRankOfMpi);
  if (isatty(STDERR_FILENO))
    setenv("SMP_RUN_TERMINAL", "1", 1);
  if (isRankOfMpi)
    return runAsMpiRank(*options);
  Result<int> ranks = chooseRanks(*options);
  if (!ranks)
    return report(ranks.error(), Failed);
  if (options->printRanks && options->transport == "mpi")
    return printAlone(printRanks(*gridOf(*options, *ranks)));
  if (options->transport == "threads" || *ranks == 1)
    return runAsThreads(*options, *ranks);
  return startMpirun(*options, *ranks);
}
