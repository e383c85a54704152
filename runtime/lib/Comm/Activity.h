//===- Activity.h - Records that a signal handler can read ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to comm. Everything here is written without locks and read from a
// signal handler or another thread: plain words, each stored atomically.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_COMM_ACTIVITY_H
#define SMP_RUNTIME_LIB_COMM_ACTIVITY_H

#include "smp/runtime/Comm/Liveness.h"
#include <array>
#include <atomic>
#include <cstring>

namespace smp::runtime {

/// A text cut to what fits, readable at any moment (perhaps half old, half
/// new, never beyond its end).
template <size_t words> class AtomicText {
public:
  void set(std::string_view text) {
    std::array<uint64_t, words> buffer = {};
    if (!text.empty())
      std::memcpy(buffer.data(), text.data(),
                  text.size() < bytes ? text.size() : bytes);
    for (size_t i = 0; i < words; ++i)
      storage[i].store(buffer[i], std::memory_order_relaxed);
  }
  /// Copies into `out` and ends it with a zero.
  void get(char (&out)[words * 8 + 1]) const {
    for (size_t i = 0; i < words; ++i) {
      uint64_t word = storage[i].load(std::memory_order_relaxed);
      std::memcpy(out + 8 * i, &word, 8);
    }
    out[bytes] = 0;
  }

private:
  static constexpr size_t bytes = words * 8;
  std::array<std::atomic<uint64_t>, words> storage = {};
};

/// What one queue does.
struct ActivityRecord {
  std::atomic<uint64_t> since = 0; ///< a running number, 0: nothing
  std::atomic<int64_t> microbatch = -1, step = -1;
  std::atomic<int> peer = -1;
  AtomicText<8> action;
  AtomicText<12> location;
};

/// A line of text in fixed memory; cut when full.
class Line {
public:
  Line &operator<<(const char *text) {
    while (*text && length < sizeof buffer - 1)
      buffer[length++] = *text++;
    return *this;
  }
  Line &operator<<(int64_t value) {
    char digits[24];
    int at = sizeof digits - 1;
    digits[at] = 0;
    bool negative = value < 0;
    do
      digits[--at] =
          static_cast<char>('0' + (negative ? -(value % 10) : value % 10));
    while (value /= 10);
    if (negative)
      digits[--at] = '-';
    return *this << digits + at;
  }
  std::string_view text() const { return {buffer, length}; }

private:
  char buffer[512];
  size_t length = 0;
};

/// How the end of a rank came about.
enum class Ending { Lost, Stalled, Terminated };

/// Appends "rank 1: lost rank 2 while waiting for it: recv ..." from the
/// records of `rank`. Safe in a signal handler.
void describeActivity(Line &line, int rank, Ending ending, int lost);

/// Prints that line, once per process, and leaves with exit code 3 after a
/// pause.
[[noreturn]] void leaveWithActivity(Ending ending, int lost,
                                    int pauseMilliseconds = 0);

/// The program's name and own global rank, for that line.
void setActivityProgram(std::string_view program, int globalRank);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_COMM_ACTIVITY_H
