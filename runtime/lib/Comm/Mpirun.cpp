//===- Mpirun.cpp - Starting ranks under mpirun ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Comm/MpiTransport.h"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;

/// Whether one process may read another's memory, which MPI uses for long
/// messages. Containers often forbid it, and MPI finds out too late.
static bool crossMemoryWorks() {
  static char here = 'a';
  std::array<int, 2> pipe;
  if (::pipe(pipe.data()) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    close(pipe[1]);
    char byte;
    [[maybe_unused]] ssize_t got = read(pipe[0], &byte, 1); // until it closes
    _exit(0);
  }
  char copy = 0;
  iovec local = {&copy, 1}, remote = {&here, 1};
  bool works =
      child > 0 && process_vm_readv(child, &local, 1, &remote, 1, 0) == 1;
  close(pipe[0]);
  close(pipe[1]);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return works;
}

std::vector<std::string>
runtime::mpirunCommand(int ranks, const std::vector<std::string> &program) {
  std::vector<std::string> command = {
      // Quiet: a rank that ends has said why, in one line.
      "mpirun", "--quiet", "-n", std::to_string(ranks), "--oversubscribe",
      "--allow-run-as-root", "--bind-to", "none", "--mca", "pml", "ob1",
      "--mca", "btl", "self,vader",
      // Seconds between SIGTERM, on which
      // ranks say what they waited for, and
      // SIGKILL: hosts may be busy.
      "--mca", "odls_base_sigkill_timeout", "2"};
  if (!crossMemoryWorks())
    command.insert(command.end(),
                   {"--mca", "btl_vader_single_copy_mechanism", "none"});
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

static volatile pid_t mpirunProcess = 0;

/// mpirun ends the job on SIGINT, but hands SIGUSR1 to the ranks, which then
/// finish their step.
static void forwardSignal(int signal) {
  if (mpirunProcess > 0)
    kill(mpirunProcess, signal == SIGINT ? SIGUSR1 : signal);
}

/// In the child: nothing of the terminal reaches mpirun but through us.
[[noreturn]] static void becomeMpirun(const std::vector<std::string> &command,
                                      pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(127);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  std::vector<char *> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

Result<int> runtime::runUnderMpirun(int ranks,
                                    const std::vector<std::string> &program) {
  std::vector<std::string> command = mpirunCommand(ranks, program);
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0)
    return Error{std::string("cannot start mpirun: ") + std::strerror(errno)};
  if (child == 0)
    becomeMpirun(command, parent);
  mpirunProcess = child;
  struct sigaction action = {};
  action.sa_handler = forwardSignal;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(signal, &action, nullptr);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Error{std::string("cannot wait for mpirun: ") +
                   std::strerror(errno)};
  mpirunProcess = 0;
  if (WIFSIGNALED(status))
    return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) == 127)
    return Error{"cannot start 'mpirun'",
                 "install Open MPI, or use --transport=threads"};
  return WEXITSTATUS(status);
}
