//===- Signals.cpp - Handlers beside computing threads --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Signals.h"
#include <csignal>
#include <initializer_list>
#include <pthread.h>
#include <sys/mman.h>

using namespace smp;

namespace {
/// Large enough for the widest registers, and for handlers that print.
struct SignalStack {
  static constexpr size_t bytes = 1 << 17;
  SignalStack() {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = bytes;
    if (memory != MAP_FAILED)
      sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    if (memory != MAP_FAILED)
      munmap(memory, bytes);
  }
  SignalStack(const SignalStack &) = delete;

private:
  void *memory;
};
} // namespace

void smp::useSignalStack() {
  static thread_local SignalStack stack;
  (void)stack;
}

void smp::handleSignal(int signal, void (*handler)(int), int flags) {
  useSignalStack();
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

bool smp::isIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 &&
         !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

void smp::leaveSignalsToOthers() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM})
    sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}
