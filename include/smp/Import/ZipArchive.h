//===- ZipArchive.h - The members of a zip file -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the zip files that PyTorch writes: members are stored, not compressed,
// so each is a piece of the mapped file and nothing is ever unpacked. The
// directory is checked completely when opening: names, methods, ranges and
// overlaps. A member's checksum is checked when it is read.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_ZIPARCHIVE_H
#define SMP_IMPORT_ZIPARCHIVE_H

#include "smp/Support/MappedFile.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace smp::pt2 {

class ZipArchive {
public:
  struct Member {
    std::span<const std::byte> data;
    uint32_t checksum = 0;
  };

  static Result<ZipArchive> open(const std::string &path);

  const std::string &path() const { return file.path(); }
  const std::map<std::string, Member, std::less<>> &members() const {
    return byName;
  }
  bool contains(std::string_view name) const {
    return byName.find(name) != byName.end();
  }
  /// The bytes of a member, valid as long as this object lives; an error when
  /// there is none of this name or its checksum differs.
  Result<std::span<const std::byte>> read(std::string_view name) const;
  Result<std::string_view> readText(std::string_view name) const;

private:
  MappedFile file;
  std::map<std::string, Member, std::less<>> byName;
};

} // namespace smp::pt2

#endif // SMP_IMPORT_ZIPARCHIVE_H
