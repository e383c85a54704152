//===- LineRelay.h - Lines of survivors, past mpirun ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_COMM_LINERELAY_H
#define SMP_RUNTIME_LIB_COMM_LINERELAY_H

#include <chrono>
#include <string>

namespace smp::runtime {

/// A pipe by which ranks hand lines to the smp-run that started their mpirun,
/// which prints them. What mpirun carries itself it may lose: it does not wait
/// for the last words of ranks that it ends.
class LineRelay {
public:
  LineRelay();
  ~LineRelay();
  LineRelay(const LineRelay &) = delete;

  /// In the child that becomes mpirun: its ranks find the pipe by this.
  void announce() const;

  /// To be polled for input; −1 without a pipe.
  int descriptor() const { return readEnd; }

  /// Prints what has come. Once an end was asked for (`isAsked`), that ranks
  /// were terminated is no news: one has died of the signal before it could
  /// answer.
  void forward(bool isAsked);

  /// Until the last rank is gone, or for so long.
  void forwardRest(bool isAsked, std::chrono::milliseconds patience);

private:
  /// False at the end of all writers.
  bool take();
  void print(bool isAsked);

  int readEnd = -1, writeEnd = -1;
  std::string text;
};

/// In a rank: the pipe of that smp-run, whose process is `starter`, or −1.
int openLineRelay(int starter);

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_COMM_LINERELAY_H
