//===- ThreadTransport.cpp - Ranks as threads of one process --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/ThreadTransport.h"
#include "HandleTable.h"
#include "smp/Support/Signals.h"
#include "smp/runtime/Comm/Liveness.h"
#include "smp/runtime/Comm/Wire.h"
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>

using namespace smp;
using namespace smp::runtime;

namespace {
/// A posted message: whoever comes second copies. It lies in the table of the
/// rank that posted it, until that rank has seen that it is complete.
struct Message {
  enum State { Posted, Complete, Mismatch };
  void *data = nullptr;
  int64_t bytes = 0;
  Message *next = nullptr; ///< in its queue
  std::atomic<State> state = Posted;
};

/// Messages that wait for their other side, in order.
class MessageQueue {
public:
  bool empty() const { return !first; }
  void push(Message &message) {
    message.next = nullptr;
    (first ? last->next : first) = &message;
    last = &message;
  }
  Message &pop() {
    Message &message = *first;
    first = message.next;
    return message;
  }
  void clear() { first = nullptr; }

private:
  Message *first = nullptr, *last = nullptr;
};

/// All messages from one rank to another.
struct Mailbox {
  struct Queues {
    MessageQueue sends, receives;
  };
  std::mutex mutex;
  std::unordered_map<int, Queues> tags;
};

struct Hub {
  explicit Hub(int size)
      : size(size), boxes(static_cast<size_t>(size) * size) {}
  Mailbox &box(int from, int to) {
    return boxes[static_cast<size_t>(from) * size + to];
  }

  const int size;
  std::vector<Mailbox> boxes;
  std::atomic<bool> isAborted = false;
  std::mutex mutex;
  std::optional<Error> error; ///< of the first rank that gave up
  int errorRank = -1;
};

class ThreadWire : public Wire {
public:
  ThreadWire(std::shared_ptr<Hub> hub, int self)
      : hub(std::move(hub)), self(self), posted(this->hub->size) {}
  ~ThreadWire() override { withdraw(); }

  int rank() const override { return self; }
  int size() const override { return hub->size; }
  Result<Handle> send(int peer, int tag, const void *data, int64_t bytes,
                      bool synchronous) override;
  Result<Handle> receive(int peer, int tag, void *data, int64_t bytes) override;
  Result<bool> test(Handle handle) override;
  void abort(const Error &error) override;
  std::optional<Error> aborted() override;

private:
  Result<Handle> post(Mailbox &box, bool sends, int tag, void *data,
                      int64_t bytes);
  /// Takes own messages back: their buffers may go away.
  void withdraw();

  std::shared_ptr<Hub> hub;
  int self;
  bool withdrawn = false;
  HandleTable<Message> posted;
};
} // namespace

/// Copies if the other side is there. Either message may be gone as soon as its
/// state has changed.
static void complete(Message &send, Message &receive) {
  bool fits = send.bytes == receive.bytes;
  if (fits && send.bytes)
    std::memcpy(receive.data, send.data, send.bytes);
  auto state = fits ? Message::Complete : Message::Mismatch;
  send.state.store(state, std::memory_order_release);
  receive.state.store(state, std::memory_order_release);
}

Result<Wire::Handle> ThreadWire::post(Mailbox &box, bool sends, int tag,
                                      void *data, int64_t bytes) {
  std::unique_lock lock(box.mutex);
  if (hub->isAborted.load()) {
    lock.unlock();
    return *aborted();
  }
  auto [handle, message] = posted.take();
  message.data = data;
  message.bytes = bytes;
  message.state = Message::Posted;
  Mailbox::Queues &queues = box.tags[tag];
  MessageQueue &own = sends ? queues.sends : queues.receives;
  MessageQueue &others = sends ? queues.receives : queues.sends;
  if (others.empty()) {
    own.push(message);
  } else {
    Message &other = others.pop();
    complete(sends ? message : other, sends ? other : message);
  }
  return handle;
}

/// All sends are complete only when they are taken: no copy has to be kept.
Result<Wire::Handle> ThreadWire::send(int peer, int tag, const void *data,
                                      int64_t bytes, bool /*synchronous*/) {
  return post(hub->box(self, peer), /*sends=*/true, tag,
              const_cast<void *>(data), bytes);
}

Result<Wire::Handle> ThreadWire::receive(int peer, int tag, void *data,
                                         int64_t bytes) {
  return post(hub->box(peer, self), /*sends=*/false, tag, data, bytes);
}

Result<bool> ThreadWire::test(Handle handle) {
  Message *message = posted.find(handle);
  if (!message)
    return Error{"expects a posted message, got a spent handle"};
  auto state = message->state.load(std::memory_order_acquire);
  if (state == Message::Posted)
    return false;
  posted.erase(handle);
  if (state == Message::Mismatch)
    return Error{"expects both sides of a message to name the same size, got "
                 "two"};
  return true;
}

void ThreadWire::abort(const Error &error) {
  {
    std::scoped_lock lock(hub->mutex);
    if (!hub->error) {
      hub->error =
          Error{"rank " + std::to_string(self) + " stopped: " + error.message,
                error.note};
      hub->errorRank = self;
    }
  }
  hub->isAborted.store(true);
}

std::optional<Error> ThreadWire::aborted() {
  if (!hub->isAborted.load(std::memory_order_acquire))
    return std::nullopt;
  withdraw();
  std::scoped_lock lock(hub->mutex);
  return hub->error;
}

void ThreadWire::withdraw() {
  if (withdrawn)
    return;
  withdrawn = true;
  for (int peer = 0; peer < hub->size; ++peer)
    for (bool sends : {true, false}) {
      Mailbox &box = sends ? hub->box(self, peer) : hub->box(peer, self);
      std::scoped_lock lock(box.mutex);
      for (auto &[tag, queues] : box.tags)
        (sends ? queues.sends : queues.receives).clear();
    }
}

static std::vector<std::unique_ptr<Comm>>
connect(const std::shared_ptr<Hub> &hub) {
  std::vector<std::unique_ptr<Comm>> comms;
  comms.reserve(hub->size);
  for (int rank = 0; rank < hub->size; ++rank)
    comms.push_back(
        std::make_unique<Comm>(std::make_unique<ThreadWire>(hub, rank)));
  return comms;
}

std::vector<std::unique_ptr<Comm>> runtime::createThreadComms(int ranks) {
  return connect(std::make_shared<Hub>(ranks));
}

Status runtime::runThreads(int ranks,
                           const std::function<Status(Comm &)> &body) {
  auto hub = std::make_shared<Hub>(ranks);
  std::vector<std::unique_ptr<Comm>> comms = connect(hub);
  std::vector<Status> results(ranks);
  {
    std::vector<std::jthread> threads;
    threads.reserve(ranks);
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        leaveSignalsToOthers();
        setActivityRank(rank);
        results[rank] = body(*comms[rank]);
        if (!results[rank])
          comms[rank]->abort(results[rank].error());
      });
  }
  // The rank that gave up first has the cause; the others' errors name it.
  if (hub->errorRank >= 0 && !results[hub->errorRank])
    return results[hub->errorRank];
  for (Status &result : results)
    if (!result)
      return result;
  return {};
}
