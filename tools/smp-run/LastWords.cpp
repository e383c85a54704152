//===- LastWords.cpp - When the system refuses ----------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LastWords.h"
#include "smp/Support/MappedPath.h"
#include "smp/Support/Signals.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <initializer_list>
#include <new>
#include <unistd.h>

/// Safe in a signal handler.
static void say(const char *text) {
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] static void endWith(const char *text) {
  say(text);
  _exit(1);
}

static void onNoMemory() {
  endWith("smp-run: error: expects more memory, got none from the system\n"
          "  note: use fewer ranks on this host, or compile with smaller "
          "microbatches or more stages\n");
}

/// Without exceptions of ours: the system refused a thread.
static void onTerminate() {
  endWith("smp-run: error: expects more threads, got none from the system\n"
          "  note: lower --threads or --ranks, or raise the limit ('ulimit "
          "-u')\n");
}

static void onBusError(int, siginfo_t *information, void *) {
  const char *path = smp::findMappedPath(information->si_addr);
  // In one piece, as other ranks may say the same.
  char line[512] =
      "smp-run: error: expects its files to stay as they are, got ";
  for (const char *part : {"'", path ? path : "a file of the job", "'"})
    if (path || part[0] != '\'')
      std::strcat(line, part);
  say(std::strcat(line, ", which was cut short or cannot be read\n"));
  endWith("  note: leave them alone while they are in use; check the disk; "
          "--resume continues from the last checkpoint\n");
}

void smp::run::installLastWords() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", O_RDWR) < 0)
      _exit(1);
  std::set_new_handler(onNoMemory);
  std::set_terminate(onTerminate);
  useSignalStack();
  struct sigaction action = {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGBUS, &action, nullptr);
  // The write fails instead, and that is said. Who reads our messages may go
  // before us: Ctrl-C ends `tee` too, and must not keep a run from saving.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}
