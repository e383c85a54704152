//===- MappedFile.cpp - A file as read-only memory ------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/MappedFile.h"
#include "smp/Support/MappedPath.h"
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace smp;

static Error fileError(const std::string &path, const char *verb) {
  return Error{std::string("cannot ") + verb + " '" + path +
               "': " + std::strerror(errno)};
}

namespace {
/// A mapping, readable at any moment. `begin` is set last and cleared first.
struct Mapping {
  std::atomic<bool> taken = false;
  std::atomic<const std::byte *> begin = nullptr;
  size_t size = 0;
  char path[256];
};
} // namespace

/// More files are not known; nothing but a name in an error is lost.
static std::array<Mapping, 64> mappings;

static void remember(const std::byte *data, size_t size,
                     const std::string &path) {
  for (Mapping &mapping : mappings) {
    if (mapping.taken.exchange(true))
      continue;
    mapping.size = size;
    // Of a long path the end says more.
    size_t from = path.size() < sizeof mapping.path
                      ? 0
                      : path.size() - sizeof mapping.path + 1;
    std::strcpy(mapping.path, path.c_str() + from);
    mapping.begin = data;
    return;
  }
}

static void forget(const std::byte *data) {
  for (Mapping &mapping : mappings)
    if (mapping.begin.load() == data) {
      mapping.begin = nullptr;
      mapping.taken = false;
      return;
    }
}

const char *smp::findMappedPath(const void *address) {
  for (const Mapping &mapping : mappings) {
    const std::byte *begin = mapping.begin.load();
    // Pages: the last one is mapped to its end.
    constexpr size_t page = 4096;
    size_t bytes = (mapping.size + page - 1) / page * page;
    if (begin && address >= begin && address < begin + bytes)
      return mapping.path;
  }
  return nullptr;
}

static Error irregularFile(const std::string &path, mode_t mode) {
  return Error{"expects '" + path + "' to be a regular file, got " +
               (S_ISDIR(mode)    ? "a folder"
                : S_ISFIFO(mode) ? "a pipe"
                                 : "another kind")};
}

/// Does not wait for the writer of a pipe, who may never come.
static int openToRead(const std::string &path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

Result<MappedFile> MappedFile::open(const std::string &path) {
  int descriptor = openToRead(path);
  if (descriptor < 0)
    return fileError(path, "open");
  struct stat status;
  MappedFile file;
  file.name = path;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return irregularFile(path, status.st_mode);
  }
  if (status.st_size > 0) {
    void *address =
        mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      Error error = fileError(path, "map");
      close(descriptor);
      return error;
    }
    file.data = static_cast<const std::byte *>(address);
    file.size = status.st_size;
    remember(file.data, file.size, path);
  }
  close(descriptor);
  return file;
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (!data)
    return;
  forget(data);
  munmap(const_cast<std::byte *>(data), size);
}

Result<std::string> smp::readFile(const std::string &path) {
  int descriptor = openToRead(path);
  if (descriptor < 0)
    return fileError(path, "open");
  // Those of a shell, as of '<(command)', have their writer.
  struct stat status;
  if (fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) &&
      !path.starts_with("/dev/") && !path.starts_with("/proc/")) {
    close(descriptor);
    return irregularFile(path, status.st_mode);
  }
  fcntl(descriptor, F_SETFL, O_RDONLY);
  // Not by its size: files of /proc say that they are empty.
  std::string content;
  char piece[1 << 16];
  ssize_t bytes = 0;
  while ((bytes = read(descriptor, piece, sizeof(piece))) != 0) {
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes < 0) {
      Error error = fileError(path, "read");
      close(descriptor);
      return error;
    }
    content.append(piece, bytes);
  }
  close(descriptor);
  return content;
}

static bool writeAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    content.remove_prefix(written);
  }
  return true;
}

Status smp::checkWritable(const std::string &path) {
  struct stat status;
  bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return Error{"expects a file to write at '" + path + "', got a folder"};
  if (exists && access(path.c_str(), W_OK) != 0)
    return fileError(path, "write");
  if (exists && !S_ISREG(status.st_mode))
    return {};
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return fileError(path, "create");
  return {};
}

/// Devices and pipes are written into: a rename would put a file in their
/// place.
static Status writeInto(const std::string &path, std::string_view content) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fileError(path, "open");
  bool good = writeAll(descriptor, content);
  Error error = fileError(path, "write");
  good = close(descriptor) == 0 && good;
  return good ? Status() : Status(error);
}

/// The file that a path leads to through symbolic links, there or not.
static std::string followLinks(std::string path) {
  constexpr int mostLinks = 40; // as many as the system follows
  for (int i = 0; i < mostLinks; ++i) {
    char target[PATH_MAX];
    ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length <= 0)
      break;
    std::string next(target, length);
    size_t slash = path.rfind('/');
    if (next[0] != '/' && slash != std::string::npos)
      next = path.substr(0, slash + 1) + next;
    path = std::move(next);
  }
  return path;
}

bool smp::isSameFile(const std::string &a, const std::string &b) {
  struct stat left, right;
  int gone = (stat(a.c_str(), &left) != 0) + (stat(b.c_str(), &right) != 0);
  if (gone == 0)
    return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
  std::error_code code;
  auto place = [&](const std::string &path) {
    return std::filesystem::weakly_canonical(
        std::filesystem::absolute(followLinks(path), code), code);
  };
  return gone == 2 && !place(a).empty() && place(a) == place(b);
}

Status smp::writeFileAtomically(const std::string &given,
                                std::string_view content, bool sync) {
  std::string path = followLinks(given);
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
      !S_ISDIR(status.st_mode))
    return writeInto(path, content);
  std::string beside = path + ".tmp";
  int descriptor =
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fileError(beside, "create");
  bool good =
      writeAll(descriptor, content) && (!sync || fsync(descriptor) == 0);
  Error error = fileError(beside, "write");
  good = close(descriptor) == 0 && good;
  if (!good) {
    unlink(beside.c_str());
    return error;
  }
  if (rename(beside.c_str(), path.c_str()) != 0) {
    error = fileError(path, "replace");
    unlink(beside.c_str());
    return error;
  }
  return {};
}
