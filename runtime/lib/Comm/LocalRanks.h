//===- LocalRanks.h - Ranks of a host, as the system sees --*- C++ -*------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to comm. While MPI starts, ranks know nothing of each other but that
// one mpirun has started them: the list of processes says which ones it has,
// and whether one is stopped. It works before a rank has reached `main`.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_COMM_LOCALRANKS_H
#define SMP_RUNTIME_LIB_COMM_LOCALRANKS_H

#include <sys/types.h>
#include <vector>

namespace smp::runtime {

/// What mpirun says in the environment of a rank; −1 where it does not.
struct StartedRank {
  int rank = -1, worldSize = -1, ranksHere = -1;
};
StartedRank readStartedRank();

struct LocalRank {
  pid_t process;
  int rank;
};

/// The ranks among the children of `parent`. Reads all of the system's list.
std::vector<LocalRank> ranksStartedBy(pid_t parent);

/// Stopped: by SIGSTOP or a terminal. Gone: also when only its status is left,
/// or another process has its id.
enum class RankState { Gone, Stopped, Running };
RankState stateOf(pid_t process, pid_t parent);

/// A rank that is gone, or gives no sign of life.
struct Loss {
  int rank = -1; ///< −1: none
  bool isStalled = false;
};

/// Names this process after the loss that ends it, as `smp-lost-3`: the list of
/// processes is all that ranks share while MPI starts. Safe in a signal
/// handler.
void publishLoss(const Loss &loss);
/// The loss after which a process is named.
Loss publishedLoss(pid_t process, pid_t parent);

/// −1: unknown.
pid_t parentOf(pid_t process);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_COMM_LOCALRANKS_H
