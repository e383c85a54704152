//===- TemporaryPath.cpp - Files that go with the test --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemporaryPath.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

class Folder {
public:
  Folder()
      : path(fs::temp_directory_path() /
             ("smp-test-" + std::to_string(owner))) {
    // One of the same number may be left of a process that was killed.
    std::error_code ignored;
    fs::remove_all(path, ignored);
    fs::create_directories(path);
  }
  ~Folder() {
    const char *keep = std::getenv("SMP_TEST_KEEP");
    std::error_code ignored;
    // A forked child is not the one to clean up.
    if (getpid() == owner && (!keep || std::string_view(keep) != "1"))
      fs::remove_all(path, ignored);
  }

  const pid_t owner = getpid();
  const fs::path path;
};

} // namespace

std::string smp::runtime::test::temporaryPath(const std::string &name) {
  static Folder folder;
  fs::path path = folder.path / name;
  fs::remove_all(path);
  return path.string();
}
