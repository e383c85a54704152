//===- ThreadTransport.cpp - Ranks as threads of one process --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/ThreadTransport.h"
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
/// A posted message: whoever comes second copies.
struct Message {
  enum State { Posted, Complete, Mismatch };
  void *data = nullptr;
  int64_t bytes = 0;
  std::vector<std::byte> eager; ///< the bytes themselves, if sent ahead
  std::atomic<State> state = Posted;
};
using MessagePtr = std::shared_ptr<Message>;

/// All messages from one rank to another.
struct Mailbox {
  struct Queues {
    std::deque<MessagePtr> sends, receives;
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
      : hub(std::move(hub)), self(self) {}
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
  static constexpr int64_t eagerBytes = 4096;

  static void match(Message &send, Message &receive) {
    if (send.bytes == receive.bytes && send.bytes)
      std::memcpy(receive.data,
                  send.eager.empty() ? send.data : send.eager.data(),
                  send.bytes);
    auto state =
        send.bytes == receive.bytes ? Message::Complete : Message::Mismatch;
    send.state.store(state, std::memory_order_release);
    receive.state.store(state, std::memory_order_release);
  }
  Handle remember(MessagePtr message) {
    posted[++lastHandle] = std::move(message);
    return lastHandle;
  }
  /// Takes own messages back: their buffers may go away.
  void withdraw();

  std::shared_ptr<Hub> hub;
  int self;
  bool withdrawn = false;
  Handle lastHandle = 0;
  std::unordered_map<Handle, MessagePtr> posted;
};
} // namespace

Result<Wire::Handle> ThreadWire::send(int peer, int tag, const void *data,
                                      int64_t bytes, bool synchronous) {
  auto message = std::make_shared<Message>();
  message->data = const_cast<void *>(data);
  message->bytes = bytes;
  Mailbox &box = hub->box(self, peer);
  std::unique_lock lock(box.mutex);
  if (hub->isAborted.load()) {
    lock.unlock();
    return *aborted();
  }
  Mailbox::Queues &queues = box.tags[tag];
  if (!queues.receives.empty()) {
    match(*message, *queues.receives.front());
    queues.receives.pop_front();
    return remember(std::move(message));
  }
  queues.sends.push_back(message);
  if (!synchronous && bytes <= eagerBytes) {
    // The copy stays in the queue; the sender is done with it.
    const auto *from = static_cast<const std::byte *>(data);
    message->eager.assign(from, from + bytes);
    auto done = std::make_shared<Message>();
    done->state = Message::Complete;
    return remember(std::move(done));
  }
  return remember(std::move(message));
}

Result<Wire::Handle> ThreadWire::receive(int peer, int tag, void *data,
                                         int64_t bytes) {
  auto message = std::make_shared<Message>();
  message->data = data;
  message->bytes = bytes;
  Mailbox &box = hub->box(peer, self);
  std::unique_lock lock(box.mutex);
  if (hub->isAborted.load()) {
    lock.unlock();
    return *aborted();
  }
  Mailbox::Queues &queues = box.tags[tag];
  if (queues.sends.empty()) {
    queues.receives.push_back(message);
  } else {
    match(*queues.sends.front(), *message);
    queues.sends.pop_front();
  }
  return remember(std::move(message));
}

Result<bool> ThreadWire::test(Handle handle) {
  auto found = posted.find(handle);
  if (found == posted.end())
    return Error{"expects a posted message, got a spent handle"};
  auto state = found->second->state.load(std::memory_order_acquire);
  if (state == Message::Posted)
    return false;
  posted.erase(found);
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
      for (auto &[tag, queues] : box.tags) {
        if (!sends)
          queues.receives.clear();
        // What was sent ahead is a copy, and a peer may still ask for it.
        else
          std::erase_if(queues.sends, [](const MessagePtr &message) {
            return message->eager.empty() && message->bytes;
          });
      }
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
