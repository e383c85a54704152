//===- Waits.h - Which command waits for which ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Commands run by their waits, several at once. Two commands conflict when they
// touch a common byte and one of them writes it; a list of waits is right when
// it orders every conflict as the list does. This includes the reuse of memory:
// a buffer that takes the place of a dead one waits for the last reader of the
// dead one, because their bytes are the same.
//
// `planWaits` finds the only smallest set: the transitive reduction of the
// conflicts. Each wait in it is needed: without it, its own two commands are
// unordered.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_MEMORY_WAITS_H
#define SMP_MEMORY_WAITS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smp::memory {

/// Bytes [begin, end) of a space: an arena, or one slot of one, as the caller
/// likes to number them.
struct ByteRange {
  int space = 0;
  int64_t begin = 0, end = 0;
};

struct CommandAccess {
  std::vector<ByteRange> reads, writes;
  /// Earlier commands to wait for although no byte is shared, such as the
  /// previous collective of the same group.
  std::vector<int> after = {};
};

/// Ids of earlier commands, ascending, for each command.
using Waits = std::vector<std::vector<int>>;

Waits planWaits(std::span<const CommandAccess> commands);

/// Removes waits that others imply. Waits must be for earlier commands.
Waits reduceWaits(const Waits &waits);

/// Two commands that touch a common byte, in an order that nothing enforces.
struct Conflict {
  int first = 0, second = 0;
  ByteRange range;
  bool firstWrites = false, secondWrites = false;

  /// "command 4 writes bytes [0, 256) of space 2 that command 7 reads, ...".
  std::string str() const;
};

/// A conflict that `waits` leave unordered; nothing when they are right.
/// `after` is not looked at. Waits must be for earlier commands.
std::optional<Conflict> findConflict(std::span<const CommandAccess> commands,
                                     const Waits &waits);

} // namespace smp::memory

#endif // SMP_MEMORY_WAITS_H
