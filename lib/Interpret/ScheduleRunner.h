//===- ScheduleRunner.h - Steps in the order of a schedule ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each virtual rank works through its list of actions. An action starts when
// those it waits for are complete and those before it in its queue are:
// launches are one queue, the sends to and the receives from a peer one each;
// loads only wait. Values of a microbatch lie in the slots that the actions
// name, and a value that another microbatch has overwritten is an error.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_SCHEDULERUNNER_H
#define SMP_LIB_INTERPRET_SCHEDULERUNNER_H

#include "ProgramRunner.h"
#include <deque>

namespace smp::interpret {

/// The slotted arenas of a rank: "stash.c0", "boundary.act.c0-c1",
/// "input.labels".
class SlottedMemory : public RankMemory {
public:
  using RankMemory::RankMemory;

  struct Held {
    int64_t microbatch;
    Tensor value;
  };
  using Slot = std::map<std::pair<BindingKind, std::string>, Held>;

  /// Nothing in a slot outlives its step.
  void beginStep() override {
    RankMemory::beginStep();
    slots.clear();
  }
  Slot &slot(llvm::StringRef arena, int64_t index) {
    return slots[{arena.str(), index}];
  }

protected:
  const Tensor *readTransient(const Launch &launch,
                              BindingAttr binding) override;
  llvm::LogicalResult writeTransient(const Launch &launch, BindingAttr binding,
                                     Tensor value) override;
  llvm::FailureOr<Tensor> readInput(const Launch &launch,
                                    BindingAttr binding) override;

private:
  const Tensor *find(const Launch &launch, llvm::StringRef arena,
                     BindingAttr binding);

  std::map<std::pair<std::string, int64_t>, Slot> slots;
};

class ScheduleRunner : public ProgramRunner, private ActionRunner {
public:
  ScheduleRunner(ScheduleOp schedule, mlir::ModuleOp module, ModelState model,
                 StepOptions options)
      : ProgramRunner(module, std::move(model), std::move(options)),
        schedule(schedule) {}

protected:
  void addReplica(int rdp) override;
  llvm::LogicalResult runPrograms() override;

private:
  /// What one rank has done of its list.
  struct Progress {
    llvm::SmallVector<ActionOpInterface> actions;
    llvm::SmallVector<bool> complete;
    /// The launch under way.
    std::optional<FunctionRun> run;
    Launch launch;
    size_t launched = 0;
  };
  struct Message {
    std::string edge;
    int64_t microbatch;
    SlottedMemory::Slot values;
  };

  llvm::LogicalResult checkMicrobatches();
  void readLists();
  bool mayStart(const Progress &progress, size_t index) const;
  llvm::FailureOr<bool> startActions(size_t rank);
  llvm::FailureOr<bool> launch(size_t rank, LaunchOp action) override;
  llvm::FailureOr<bool> load(size_t rank, LoadOp action) override;
  llvm::FailureOr<bool> send(size_t rank, SendOp action) override;
  llvm::FailureOr<bool> receive(size_t rank, RecvOp action) override;
  llvm::FailureOr<bool> advanceLaunches();
  SlottedMemory &memoryOf(size_t rank) {
    return static_cast<SlottedMemory &>(*virtualRanks[rank].memory);
  }
  size_t peerOf(size_t rank, int64_t peer) const {
    return rank / ranks.size() * ranks.size() + peer;
  }

  ScheduleOp schedule;
  std::vector<Progress> progress;
  /// Sent and not yet received, by sender and receiver.
  std::map<std::pair<size_t, size_t>, std::deque<Message>> channels;
};

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_SCHEDULERUNNER_H
