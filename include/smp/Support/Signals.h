//===- Signals.h - Handlers beside computing threads ------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While they run, product kernels of oneDNN keep data in the stack pointer. A
// handler on the stack of such a thread overwrites memory anywhere: a Ctrl-C in
// a product could change a weight that is saved next. So handlers run on a
// stack of their own, and threads that only compute let others take the
// signals.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_SIGNALS_H
#define SMP_SUPPORT_SIGNALS_H

namespace smp {

/// Installs a handler that runs on a stack of its own on the calling thread and
/// on every other that has asked by `useSignalStack`.
void handleSignal(int signal, void (*handler)(int), int flags = 0);

/// Whether whoever started the process wants it to ignore a signal (nohup).
bool isIgnored(int signal);

/// Gives the calling thread a stack for handlers, for as long as it lives.
void useSignalStack();

/// For threads that only compute: signals to the process go to others.
void leaveSignalsToOthers();

} // namespace smp

#endif // SMP_SUPPORT_SIGNALS_H
