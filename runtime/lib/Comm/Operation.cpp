//===- Operation.cpp - Operations as sequences of rounds ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operation.h"
#include <algorithm>

using namespace smp;
using namespace smp::runtime;

void Operation::advance(Wire &wire) {
  while (!done) {
    for (size_t i = 0; i < pending.size();) {
      Result<bool> complete = wire.test(pending[i].handle);
      if (!complete)
        return fail(complete.error());
      if (!*complete) {
        ++i;
        continue;
      }
      pending[i] = pending.back();
      pending.pop_back();
    }
    if (!pending.empty())
      return;
    Result<bool> more = nextRound(wire);
    if (!more)
      return fail(more.error());
    done = !*more;
  }
}

Status Operation::send(Wire &wire, int peer, int tag, const void *data,
                       int64_t bytes, bool synchronous) {
  SMP_ASSIGN_OR_RETURN(Wire::Handle handle,
                       wire.send(peer, tag, data, bytes, synchronous));
  pending.push_back({handle, peer});
  return {};
}

Status Operation::receive(Wire &wire, int peer, int tag, void *data,
                          int64_t bytes) {
  SMP_ASSIGN_OR_RETURN(Wire::Handle handle,
                       wire.receive(peer, tag, data, bytes));
  pending.push_back({handle, peer});
  return {};
}

namespace {
class Failed : public Operation {
public:
  Failed() : Operation(*std::pmr::get_default_resource(), 0) {}

private:
  Result<bool> nextRound(Wire &) override { return false; }
};

/// A message, in pieces whose size every transport can express.
class Transfer : public Operation {
public:
  Transfer(std::pmr::memory_resource &blocks, bool sends, int peer, int channel,
           void *data, int64_t bytes)
      : Operation(blocks, size_t(bytes / pieceBytes + 1)), sends(sends),
        peer(peer), tag(channelTag(channel)),
        data(static_cast<std::byte *>(data)), bytes(bytes) {}

private:
  static constexpr int64_t pieceBytes = int64_t{1} << 30;

  /// Posts all pieces at once, so that a later message on the channel cannot
  /// come between them.
  Result<bool> nextRound(Wire &wire) override {
    if (posted)
      return false;
    posted = true;
    do {
      int64_t piece = std::min(bytes, pieceBytes);
      if (sends)
        SMP_RETURN_IF_ERROR(send(wire, peer, tag, data, piece, true));
      else
        SMP_RETURN_IF_ERROR(receive(wire, peer, tag, data, piece));
      data += piece;
      bytes -= piece;
    } while (bytes);
    return true;
  }

  bool sends, posted = false;
  int peer, tag;
  std::byte *data;
  int64_t bytes;
};
} // namespace

std::shared_ptr<Operation> runtime::failedOperation(Error error) {
  auto operation = std::make_shared<Failed>();
  operation->fail(std::move(error));
  return operation;
}

std::shared_ptr<Operation>
runtime::makeTransfer(std::pmr::memory_resource &blocks, bool sends, int peer,
                      int channel, void *data, int64_t bytes) {
  return std::allocate_shared<Transfer>(
      std::pmr::polymorphic_allocator<Transfer>(&blocks), blocks, sends, peer,
      channel, data, bytes);
}
