//===- LineRelay.cpp - Lines of survivors, past mpirun --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineRelay.h"
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace smp;
using namespace smp::runtime;
using Clock = std::chrono::steady_clock;

/// The number of the descriptor to write to, in the starter.
static constexpr const char *variable = "SMP_RUN_LINES";

LineRelay::LineRelay() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return;
  readEnd = ends[0];
  writeEnd = ends[1];
  fcntl(readEnd, F_SETFL, O_NONBLOCK);
}

LineRelay::~LineRelay() {
  for (int end : {readEnd, writeEnd})
    if (end >= 0)
      close(end);
}

void LineRelay::announce() const {
  if (writeEnd >= 0)
    setenv(variable, std::to_string(writeEnd).c_str(), 1);
}

bool LineRelay::take() {
  std::array<char, 4096> buffer;
  for (;;) {
    ssize_t got = read(readEnd, buffer.data(), buffer.size());
    if (got > 0)
      text.append(buffer.data(), size_t(got));
    else if (got == 0 || errno != EINTR)
      return got != 0;
  }
}

void LineRelay::print(bool isAsked) {
  std::string_view rest = text;
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos;) {
    std::string_view line = rest.substr(0, end + 1);
    rest.remove_prefix(line.size());
    if (!isAsked || line.find(": terminated ") == std::string_view::npos)
      std::fwrite(line.data(), 1, line.size(), stderr);
  }
  text.erase(0, text.size() - rest.size());
}

void LineRelay::forward(bool isAsked) {
  if (readEnd < 0)
    return;
  take();
  print(isAsked);
}

void LineRelay::forwardRest(bool isAsked, std::chrono::milliseconds patience) {
  if (readEnd < 0)
    return;
  close(writeEnd);
  writeEnd = -1;
  Clock::time_point end = Clock::now() + patience;
  for (bool open = true; open && Clock::now() < end;) {
    pollfd ready = {readEnd, POLLIN, 0};
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    poll(&ready, 1, int(left.count()));
    open = take();
    print(isAsked);
  }
}

int runtime::openLineRelay(int starter) {
  const char *number = std::getenv(variable);
  if (starter < 0 || !number)
    return -1;
  std::string path = "/proc/" + std::to_string(starter) + "/fd/" + number;
  int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (descriptor >= 0 && fstat(descriptor, &status) == 0 &&
      S_ISFIFO(status.st_mode)) {
    // From now on a line waits for its reader.
    fcntl(descriptor, F_SETFL, O_WRONLY);
    return descriptor;
  }
  if (descriptor >= 0)
    close(descriptor);
  return -1;
}
