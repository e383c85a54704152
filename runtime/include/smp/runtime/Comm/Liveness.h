//===- Liveness.h - Who waits for whom, when a rank dies --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank keeps what it is doing in records that a signal handler can read.
// When a rank dies, every survivor prints one line from them and ends:
//
//   smp-run: rank 1: lost rank 2 while waiting for it: recv act.c0-c1,
//   microbatch 3, step 12 (model.py:31)
//
// Two things end a survivor: the SIGTERM that mpirun sends when a rank dies,
// and a watch thread that looks at the processes of the same host (a board in
// shared memory holds their ids and heartbeats).
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_COMM_LIVENESS_H
#define SMP_RUNTIME_COMM_LIVENESS_H

#include "smp/runtime/Comm/Comm.h"
#include <string_view>

namespace smp::runtime {

/// What one queue of this rank is doing. Setting one is a few stores: cheap
/// enough for every command.
struct Activity {
  std::string_view action; ///< "recv act.c0-c1", "all_reduce rdp", "forward"
  int peer = -1;           ///< global rank waited for, -1: none or a group
  int64_t microbatch = -1; ///< -1: none
  int64_t step = -1;
  std::string_view location{}; ///< source line of the model, if known
};

/// Queues that can be recorded apart; slot 0 is the compute queue by custom.
inline constexpr int activitySlots = 32;

/// Records, under the calling thread's rank, what queue `slot` does now.
void setActivity(int slot, const Activity &activity);
void clearActivity(int slot);

/// Whom the action of a queue waits for now: that of a group changes.
void setActivityPeer(int slot, int peer);

/// What the rank as a whole does, said where no queue has more to say:
/// "save of 'step-3'". A slot of its own.
inline constexpr int phaseSlot = activitySlots - 1;
void setPhase(std::string_view what, int64_t step = -1);

/// With the threads transport ranks share the process: each thread says which
/// rank's records it writes. Default 0; `startLiveness` sets it as well.
void setActivityRank(int rank);

/// The line a survivor would print now; `lost` is the dead rank, -1 if unknown.
std::string activityLine(int rank, int lost);

struct LivenessOptions {
  std::string program = "smp-run";
  /// A peer on this host without a heartbeat for so long counts as dead.
  int stallSeconds = 60;
};

/// Before MPI starts, where ranks may wait for one that is stopped or gone
/// already: answers SIGTERM, and looks at the processes of those ranks that the
/// same mpirun has started on this host. `startLiveness` takes over.
void watchStart(const LivenessOptions &options = {});

/// Connects the ranks (waiting: all ranks call it), installs the SIGTERM
/// handler and starts the watch. Exit code of survivors: 3.
Status startLiveness(Comm &comm, const LivenessOptions &options = {});

/// Where a survivor's line is written; default: standard error.
void sendLastWordsTo(int descriptor);

/// From now on SIGINT, SIGUSR1, SIGTERM and SIGHUP ask for an end after the
/// current step; a second one, but for SIGUSR1, ends the process. SIGHUP stays
/// ignored if it is (nohup). To a rank under MPI, SIGTERM is mpirun's way to end
/// it at once (`watchStart`, `startLiveness`).
void installStopHandler(bool isRankOfMpi);
bool stopRequested();

/// Before the end of MPI: whoever leaves first may have mpirun hurry the
/// others.
void announceEnd();

/// Ends the watch: from now on a rank that leaves is not a death. The last
/// thing a rank does, after the end of MPI, where ranks may wait as well.
void stopLiveness();

} // namespace smp::runtime

#endif // SMP_RUNTIME_COMM_LIVENESS_H
