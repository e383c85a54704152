//===- Comm.h - Messages and collectives between ranks ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one interface over which ranks talk. Everything is started first and
// polled afterwards, so that one thread can progress several queues; nothing
// but the functions that say so waits. Transports (threads of one process,
// MPI) only move bytes between two ranks (`Wire`); the collectives are built
// on top, once, and add contributions in ascending rank order whatever the
// message size, so that no buffer boundary can change a bit.
//
// All calls of one rank come from one thread at a time. Buffers belong to the
// operation until it is complete.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_COMM_COMM_H
#define SMP_RUNTIME_COMM_COMM_H

#include "smp/Support/DataType.h"
#include "smp/Support/Result.h"
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

namespace smp::runtime {

class Wire;
class Operation;
struct OperationMemory;
class Comm;

/// An ordered set of ranks, as this rank sees it. The position in the set is
/// the rank relative to the group.
class Group {
public:
  int id() const { return identifier; }
  int size() const { return static_cast<int>(ranks->size()); }
  int rank() const { return self; } ///< own position
  int globalRank(int position) const { return (*ranks)[position]; }
  const std::vector<int> &members() const { return *ranks; }

private:
  friend class Comm;
  int identifier = 0;
  int self = 0;
  /// Shared, so that a copy of a group asks for no memory.
  std::shared_ptr<const std::vector<int>> ranks;
};

/// A started operation. Dropping a handle does not cancel the operation. It
/// does not outlive its communicator.
class Request {
public:
  Request() = default;
  explicit operator bool() const { return operation != nullptr; }

private:
  friend class Comm;
  explicit Request(std::shared_ptr<Operation> operation)
      : operation(std::move(operation)) {}
  std::shared_ptr<Operation> operation;
};

class Comm {
public:
  explicit Comm(std::unique_ptr<Wire> wire);
  ~Comm();
  Comm(const Comm &) = delete;
  Comm &operator=(const Comm &) = delete;

  int rank() const;
  int size() const;
  const Group &world() const { return worldGroup; }

  /// Makes a group of `members` (ascending global ranks, this rank among
  /// them). Local: nothing is exchanged. All members give the same list and
  /// the same `id` in [1, 2^20); groups that share a pair of ranks have
  /// different ids. The index of a group in the job is such an id, plus one.
  Result<Group> createGroup(std::vector<int> members, int id) const;

  // Collectives. All members start them in the same order per group; they
  // are carried out in that order. F32, F64 and I64 where values are added.

  /// buffer[i] becomes the sum over the members, in ascending rank order.
  Request allReduce(const Group &group, DataType type, void *buffer,
                    int64_t count);
  /// `count` elements of member `root` (a position) to all.
  Request broadcast(const Group &group, DataType type, void *buffer,
                    int64_t count, int root);
  /// The buffer has size() slices of `count` elements; member i brings slice
  /// i and gets the others.
  Request allGather(const Group &group, DataType type, void *buffer,
                    int64_t count);
  /// The same slices; member i gets the sum of slice i, the others are spent.
  Request reduceScatter(const Group &group, DataType type, void *buffer,
                        int64_t count);
  Request barrier(const Group &group);

  // Point to point, with global ranks. One FIFO per (peer, channel) and
  // direction; channels are in [0, 2^20 - 1), the last one carries objects. A
  // send is complete when the peer has begun to take it (rendezvous). The two
  // sizes must agree.
  Request send(int peer, int channel, const void *data, int64_t bytes);
  Request receive(int peer, int channel, void *data, int64_t bytes);

  /// Progresses everything; true once `request` is complete, at once if it is
  /// empty. An error when the operation failed or the job was aborted.
  Result<bool> test(const Request &request);
  /// A rank whose message a started operation lacks now, −1: none.
  static int waitsFor(const Request &request);
  /// Polls until `request` is complete; whom it waits for is said beside what
  /// `setPhase` has said.
  Status wait(const Request &request);
  /// Progresses everything; an error if the job was aborted.
  Status progress();

  /// Small host objects, waiting: one text of every member, by position.
  Result<std::vector<std::string>> allGatherObjects(const Group &group,
                                                    const std::string &object);
  /// The text of member `root`, waiting.
  Result<std::string> broadcastObject(const Group &group, std::string object,
                                      int root);
  /// Object messages between two ranks, waiting; on a channel of their own.
  Status sendObject(int peer, const std::string &object);
  Result<std::string> receiveObject(int peer);

  /// Tells all ranks that this one cannot go on: every pending and later
  /// operation anywhere fails with this rank and message.
  void abort(const Error &error);

private:
  Request start(const Group &group, std::shared_ptr<Operation> operation);
  OperationMemory memoryOf(const Group &group);
  void advance();
  Status failure() const;

  std::unique_ptr<Wire> wire;
  Group worldGroup;
  /// Where operations live. Blocks are used again, 16 and more of a size at a
  /// time: once each size has been seen, a step asks for no memory.
  std::pmr::unsynchronized_pool_resource blocks;
  struct Queue {
    /// Collectives not yet complete, in the order started.
    std::vector<std::shared_ptr<Operation>> waiting;
    std::vector<std::byte> staging; ///< of the first one
  };
  std::map<int, Queue> queues; ///< by group id
  /// Point-to-point operations in flight.
  std::vector<std::shared_ptr<Operation>> transfers;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_COMM_COMM_H
