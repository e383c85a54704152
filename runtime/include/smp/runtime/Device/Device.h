//===- Device.h - What executes the commands of a rank ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executor starts commands and asks what has completed; the device decides
// how they run. One implementation per kind of processor, one conformance
// suite over all.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_DEVICE_DEVICE_H
#define SMP_RUNTIME_DEVICE_DEVICE_H

#include "smp/Support/StepState.h"
#include "smp/runtime/Device/Arenas.h"

namespace smp::runtime {

/// One execution of a program: where its operands lie, and the step's state.
/// It outlives the commands started with it.
struct Frame {
  const Arenas *arenas = nullptr;
  StepState state = {};
  std::vector<int64_t> slots; ///< by arena

  void *address(const Operand &operand) const {
    return arenas->at(operand, operand.slotted ? slots[operand.arena] : 0);
  }
};

struct Completion {
  uint64_t ticket = 0;
  double begin = 0,
         end = 0; ///< traceNow(), of the command's first and last tile
};

class Device {
public:
  virtual ~Device() = default;

  /// Starts a command other than a collective; `ticket` names it.
  virtual void start(const Command &command, const Frame &frame,
                     uint64_t ticket) = 0;

  /// Lends the calling thread to the device for a piece of work; false when
  /// there is none to be had.
  virtual bool work() = 0;

  /// Appends what has completed since the last call.
  virtual void poll(std::vector<Completion> &completions) = 0;

  /// Waits until something completes, at most `microseconds`.
  virtual void wait(int microseconds) = 0;
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_DEVICE_DEVICE_H
