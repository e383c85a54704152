//===- Process.h - Runs smp-run as its users do -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_RUN_PROCESS_H
#define SMP_RUNTIME_TEST_RUN_PROCESS_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace smp::runtime::test {

/// A child process whose output goes to files.
class Process {
public:
  explicit Process(std::vector<std::string> command);
  ~Process();
  Process(const Process &) = delete;

  /// The exit code, 128 + signal, or -1 when it still runs after `seconds`
  /// (it is killed then).
  int wait(double seconds = 60);
  void signal(int number) const;
  pid_t id() const { return child; }
  std::string output() const; ///< stdout
  std::string errors() const; ///< stderr

private:
  std::string path;
  pid_t child = -1;
  bool reaped = false;
};

/// The processes below `root` whose program is `name`, by ascending id.
std::vector<pid_t> descendants(pid_t root, const std::string &name);

/// Whether a process is alive (and no zombie).
bool isAlive(pid_t process);

/// The lines of a file; none when it is not there.
std::vector<std::string> readLines(const std::string &path);

} // namespace smp::runtime::test

#endif // SMP_RUNTIME_TEST_RUN_PROCESS_H
