//===- MpiTransport.h - Ranks as processes under MPI ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_COMM_MPITRANSPORT_H
#define SMP_RUNTIME_COMM_MPITRANSPORT_H

#include "smp/runtime/Comm/Comm.h"

namespace smp::runtime {

/// Whether this process was started by mpirun or a scheduler's equivalent.
bool underMpi();

/// Initialises MPI (serialized threads) and connects to all ranks. Once per
/// process.
Result<std::unique_ptr<Comm>> createMpiComm();

struct BuildComparison {
  Status status; ///< the same error on all ranks
  bool allSpoke = true;
  bool isSaidByRankZero = false; ///< or else each rank prints the error
};

/// Whether all ranks are the same build of a program, with the same MPI, which
/// all of them say within `seconds`. The first words after `createMpiComm`.
BuildComparison compareBuilds(int seconds);

/// Tells the process of the same program that started this rank's mpirun, if
/// there is one, that the ranks are connected (`runUnderMpirun`).
void tellStarter();

/// A descriptor of which that smp-run prints the lines; standard error if there
/// is none. mpirun carries what ranks print, and may end before the last line
/// has arrived.
int openLastWords();

/// Ends MPI in order; all ranks call it after their communicators are gone.
void finalizeMpi();

/// Leaves after a failure (`Comm::abort`), without waiting for anyone.
[[noreturn]] void failMpi(int exitCode);

/// How smp-run starts its own ranks: the mpirun command line, the arguments of
/// the program last. Ranks may exceed the cores.
std::vector<std::string> mpirunCommand(int ranks,
                                       const std::vector<std::string> &program);

/// Runs mpirun as a child and returns its exit code (128 + signal if it died).
/// SIGINT, SIGTERM and SIGHUP reach the ranks as SIGUSR1 (`stopRequested`), a
/// second one ends them (130, as when it came before they began); when this
/// process dies, so do mpirun and the ranks. A rank that stays stopped while no
/// other is left to notice ends the job after `stallSeconds`, and an mpirun that
/// hangs when a rank died early is ended.
Result<int> runUnderMpirun(int ranks, const std::vector<std::string> &program,
                           int stallSeconds = 60);

} // namespace smp::runtime

#endif // SMP_RUNTIME_COMM_MPITRANSPORT_H
