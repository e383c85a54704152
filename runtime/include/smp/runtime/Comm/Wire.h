//===- Wire.h - What a transport provides -----------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_COMM_WIRE_H
#define SMP_RUNTIME_COMM_WIRE_H

#include "smp/Support/Result.h"
#include <cstdint>
#include <optional>

namespace smp::runtime {

/// Moves bytes between two ranks. A new transport implements this and passes
/// the conformance suite; nothing else knows about it.
class Wire {
public:
  /// A message that has been posted. 0 is never one.
  using Handle = uint64_t;

  virtual ~Wire() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Posts a message. Messages of one (sender, receiver, tag) are matched in
  /// order; tags are below 2^24. `synchronous`: complete only when the
  /// receiver has begun to take it.
  virtual Result<Handle> send(int peer, int tag, const void *data,
                              int64_t bytes, bool synchronous) = 0;
  virtual Result<Handle> receive(int peer, int tag, void *data,
                                 int64_t bytes) = 0;
  /// True once complete; the handle is spent then. Progresses the transport.
  virtual Result<bool> test(Handle handle) = 0;

  /// Tells every rank, as far as possible, that this one gives up.
  virtual void abort(const Error &error) = 0;
  /// The error of a rank that gave up, this one included.
  virtual std::optional<Error> aborted() = 0;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_COMM_WIRE_H
