//===- MappedFile.h - A file as read-only memory ----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_MAPPEDFILE_H
#define SMP_SUPPORT_MAPPEDFILE_H

#include "smp/Support/Result.h"
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace smp {

class MappedFile {
public:
  MappedFile() = default;
  static Result<MappedFile> open(const std::string &path);
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  const std::string &path() const { return name; }
  std::span<const std::byte> bytes() const { return {data, size}; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(data), size};
  }

private:
  std::string name;
  const std::byte *data = nullptr;
  size_t size = 0;
};

/// The whole content of a small file.
Result<std::string> readFile(const std::string &path);

/// Whether a file can be written at `path` later: its folder is there and
/// writable, and no folder has its name. Writes nothing.
Status checkWritable(const std::string &path);

/// Whether two paths name the same file, there or not.
bool isSameFile(const std::string &a, const std::string &b);

/// Replaces `path` by `content` in one atomic rename, durable if `sync`. A
/// symbolic link stays one; what is no regular file is written into.
Status writeFileAtomically(const std::string &path, std::string_view content,
                           bool sync = false);

} // namespace smp

#endif // SMP_SUPPORT_MAPPEDFILE_H
