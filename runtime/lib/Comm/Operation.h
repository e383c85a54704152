//===- Operation.h - Operations as sequences of rounds ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to comm. An operation is a sequence of rounds; a round posts
// messages and ends when all of them are complete. That is all a collective
// needs, and it never waits.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_COMM_OPERATION_H
#define SMP_RUNTIME_LIB_COMM_OPERATION_H

#include "smp/runtime/Comm/Comm.h"
#include "smp/runtime/Comm/Wire.h"

namespace smp::runtime {

/// What the operations of a group take their memory from.
struct OperationMemory {
  std::pmr::memory_resource &blocks;
  std::vector<std::byte> &staging; ///< one operation uses it at a time
};

class Operation {
public:
  /// `messages` are posted in a round at most.
  Operation(std::pmr::memory_resource &blocks, size_t messages)
      : pending(&blocks) {
    pending.reserve(messages);
  }
  virtual ~Operation() = default;

  bool isDone() const { return done; }
  const std::optional<Error> &error() const { return failure; }
  void fail(Error error) {
    done = true;
    if (!failure)
      failure = std::move(error);
  }
  /// The peer of a message that is not complete, −1: none.
  int waitsFor() const { return pending.empty() ? -1 : pending[0].peer; }
  /// Does what can be done without waiting.
  void advance(Wire &wire);

protected:
  Status send(Wire &wire, int peer, int tag, const void *data, int64_t bytes,
              bool synchronous = false);
  Status receive(Wire &wire, int peer, int tag, void *data, int64_t bytes);

private:
  /// Called when the messages of the round before are complete. Posts those of
  /// the next one; false when there is none.
  virtual Result<bool> nextRound(Wire &wire) = 0;

  struct Pending {
    Wire::Handle handle;
    int peer;
  };
  std::pmr::vector<Pending> pending;
  std::optional<Error> failure;
  bool done = false;
};

/// Tags: a range each for channels and groups.
inline constexpr int tagRange = 1 << 20;
inline int channelTag(int channel) { return channel; }
inline int groupTag(int id) { return tagRange + id; }

/// An operation that has failed from the start.
std::shared_ptr<Operation> failedOperation(Error error);

std::shared_ptr<Operation> makeTransfer(std::pmr::memory_resource &blocks,
                                        bool sends, int peer, int channel,
                                        void *data, int64_t bytes);
std::shared_ptr<Operation> makeAllReduce(const OperationMemory &memory,
                                         const Group &group, DataType type,
                                         void *buffer, int64_t count);
std::shared_ptr<Operation> makeReduceScatter(const OperationMemory &memory,
                                             const Group &group, DataType type,
                                             void *buffer, int64_t count);
std::shared_ptr<Operation> makeAllGather(const OperationMemory &memory,
                                         const Group &group, DataType type,
                                         void *buffer, int64_t count);
std::shared_ptr<Operation> makeBroadcast(const OperationMemory &memory,
                                         const Group &group, DataType type,
                                         void *buffer, int64_t count, int root);
std::shared_ptr<Operation> makeBarrier(const OperationMemory &memory,
                                       const Group &group);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_COMM_OPERATION_H
