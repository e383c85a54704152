//===- Process.cpp - Runs smp-run as its users do -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"
#include "Fixtures/TemporaryPath.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace smp::runtime::test;

static void redirect(const std::string &path, int descriptor) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, descriptor);
  close(file);
}

Process::Process(std::vector<std::string> command) {
  static int count = 0;
  path = temporaryPath("process-" + std::to_string(count++));
  std::vector<char *> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string &word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  child = fork();
  if (child != 0)
    return;
  redirect(path + ".out", STDOUT_FILENO);
  redirect(path + ".err", STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

Process::~Process() {
  if (!reaped)
    wait(0);
}

int Process::wait(double seconds) {
  auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      reaped = true;
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  reaped = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Process::signal(int number) const { kill(child, number); }

static std::string readWhole(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Process::output() const { return readWhole(path + ".out"); }
std::string Process::errors() const { return readWhole(path + ".err"); }

namespace {
struct Status {
  std::string name;
  char state = '?';
  pid_t parent = 0;
};
} // namespace

/// From /proc/<id>/stat: "id (name) state parent ...".
static Status statusOf(pid_t process) {
  std::string text = readWhole("/proc/" + std::to_string(process) + "/stat");
  Status status;
  size_t open = text.find('('), close = text.rfind(')');
  if (close == std::string::npos)
    return status;
  status.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  rest >> status.state >> status.parent;
  return status;
}

std::vector<pid_t> smp::runtime::test::descendants(pid_t root,
                                                   const std::string &name) {
  std::map<pid_t, Status> all;
  for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
    std::string id = entry.path().filename();
    if (id.find_first_not_of("0123456789") == std::string::npos)
      all[std::stoi(id)] = statusOf(std::stoi(id));
  }
  std::vector<pid_t> found;
  for (const auto &[id, status] : all) {
    if (status.name != name)
      continue;
    for (pid_t up = status.parent; up > 1; up = all[up].parent)
      if (up == root) {
        found.push_back(id);
        break;
      }
  }
  return found;
}

bool smp::runtime::test::isAlive(pid_t process) {
  char state = statusOf(process).state;
  return state != '?' && state != 'Z' && state != 'X';
}

std::vector<std::string>
smp::runtime::test::readLines(const std::string &path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}
