//===- ZipArchive.cpp - The members of a zip file -------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout is that of PKWARE's APPNOTE 6.3.9: local headers with the data,
// the central directory, its end record. PyTorch always adds the 64-bit end
// record, whether or not the sizes need it.
//
//===----------------------------------------------------------------------===//

#include "smp/Import/ZipArchive.h"
#include <algorithm>
#include <array>
#include <vector>

using namespace smp;
using namespace smp::pt2;

namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22,
                 kEnd64Size = 56, kLocator64Size = 20;
/// More members than any model has; bounds what a forged count can cost.
constexpr uint64_t kMaxMembers = 1 << 20;

/// Little-endian number of `width` bytes; the caller has checked the range.
uint64_t number(Bytes bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

bool fits(uint64_t at, uint64_t size, uint64_t total) {
  return at <= total && size <= total - at;
}

uint32_t crc32(Bytes bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0u);
      entries[i] = value;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (std::byte byte : bytes)
    crc = (crc >> 8) ^ table[(crc ^ std::to_integer<uint32_t>(byte)) & 0xff];
  return ~crc;
}

/// Where the central directory lies.
struct Directory {
  uint64_t offset, size, count;
};

struct Entry {
  std::string name;
  uint64_t method, flags, checksum, packed, size, local;
};

class Reader {
public:
  Reader(const std::string &path, Bytes bytes) : path(path), bytes(bytes) {}

  Error damaged(const std::string &what) const {
    return {"'" + path + "': expects a zip archive as torch.export.save " +
                "writes, got " + what,
            "the file may be truncated or damaged; export the model again"};
  }

  Result<Directory> findDirectory() const;
  Result<Entry> readEntry(uint64_t &at, const Directory &directory) const;
  Result<Bytes> dataOf(const Entry &entry, const Directory &directory) const;

private:
  Status readSizes64(Entry &entry, Bytes extra) const;

  const std::string &path;
  Bytes bytes;
};

Result<Directory> Reader::findDirectory() const {
  if (bytes.size() < kEndSize)
    return damaged("a file of " + std::to_string(bytes.size()) + " bytes");
  // The end record may be followed by a comment of up to 65,535 bytes.
  size_t at = bytes.size() - kEndSize;
  size_t last = at > 0xffff ? at - 0xffff : 0;
  while (number(bytes, at, 4) != kEndSignature) {
    if (at == last)
      return damaged("no end of its directory");
    --at;
  }
  Directory directory{number(bytes, at + 16, 4), number(bytes, at + 12, 4),
                      number(bytes, at + 10, 2)};
  if (at >= kLocator64Size &&
      number(bytes, at - kLocator64Size, 4) == kLocator64Signature) {
    uint64_t end64 = number(bytes, at - kLocator64Size + 8, 8);
    if (!fits(end64, kEnd64Size, bytes.size()) ||
        number(bytes, end64, 4) != kEnd64Signature)
      return damaged("a 64-bit end record that is not there");
    directory = {number(bytes, end64 + 48, 8), number(bytes, end64 + 40, 8),
                 number(bytes, end64 + 32, 8)};
  }
  if (!fits(directory.offset, directory.size, at) ||
      directory.count > kMaxMembers ||
      directory.count * kCentralSize > directory.size)
    return damaged("a directory outside the file");
  return directory;
}

/// Sizes that do not fit 32 bits are in the extra field with id 1, in order.
Status Reader::readSizes64(Entry &entry, Bytes extra) const {
  size_t at = 0;
  while (fits(at, 4, extra.size())) {
    uint64_t id = number(extra, at, 2), size = number(extra, at + 2, 2);
    at += 4;
    if (!fits(at, size, extra.size()))
      return damaged("an extra field outside its entry");
    if (id == 1) {
      size_t end = at + size;
      for (uint64_t *field : {&entry.size, &entry.packed, &entry.local}) {
        if (*field != 0xffffffff)
          continue;
        if (at + 8 > end)
          return damaged("a 64-bit size that is not there");
        *field = number(extra, at, 8);
        at += 8;
      }
      return {};
    }
    at += size;
  }
  return {};
}

Result<Entry> Reader::readEntry(uint64_t &at,
                                const Directory &directory) const {
  uint64_t end = directory.offset + directory.size;
  if (!fits(at, kCentralSize, end) || number(bytes, at, 4) != kCentralSignature)
    return damaged("a directory that ends early");
  Entry entry{"",
              number(bytes, at + 10, 2),
              number(bytes, at + 8, 2),
              number(bytes, at + 16, 4),
              number(bytes, at + 20, 4),
              number(bytes, at + 24, 4),
              number(bytes, at + 42, 4)};
  uint64_t name = number(bytes, at + 28, 2), extra = number(bytes, at + 30, 2),
           comment = number(bytes, at + 32, 2);
  at += kCentralSize;
  if (!fits(at, name + extra + comment, end))
    return damaged("a directory that ends early");
  entry.name.assign(reinterpret_cast<const char *>(bytes.data() + at), name);
  SMP_RETURN_IF_ERROR(readSizes64(entry, bytes.subspan(at + name, extra)));
  at += name + extra + comment;
  return entry;
}

Result<Bytes> Reader::dataOf(const Entry &entry,
                             const Directory &directory) const {
  std::string member = "member '" + entry.name + "'";
  if (entry.flags & 1)
    return damaged(member + ", which is encrypted");
  if (entry.method != 0)
    return Error{"'" + path + "': expects stored members, got " + member +
                     " compressed by method " + std::to_string(entry.method),
                 "export the model again; archives must not be repacked"};
  if (entry.packed != entry.size)
    return damaged(member + " with two different sizes");
  if (!fits(entry.local, kLocalSize, directory.offset) ||
      number(bytes, entry.local, 4) != kLocalSignature)
    return damaged(member + " without a header");
  uint64_t data = entry.local + kLocalSize +
                  number(bytes, entry.local + 26, 2) +
                  number(bytes, entry.local + 28, 2);
  if (!fits(data, entry.size, directory.offset))
    return damaged(member + " of " + std::to_string(entry.size) +
                   " bytes, more than the file has");
  return bytes.subspan(data, entry.size);
}

/// A relative path without `..`: what a member may be called.
bool isSafeName(std::string_view name) {
  if (name.empty() || name.front() == '/' ||
      name.find_first_of(std::string_view("\\:\0", 3)) != name.npos)
    return false;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..")
      return false;
    begin = end + 1;
  }
  return true;
}

/// Members that share bytes are a zip bomb, or damage.
bool overlap(std::vector<Bytes> ranges) {
  std::ranges::sort(ranges,
                    [](Bytes a, Bytes b) { return a.data() < b.data(); });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].data() + ranges[i - 1].size() > ranges[i].data())
      return true;
  return false;
}

} // namespace

Result<ZipArchive> ZipArchive::open(const std::string &path) {
  ZipArchive archive;
  SMP_ASSIGN_OR_RETURN(archive.file, MappedFile::open(path));
  Reader reader(archive.path(), archive.file.bytes());
  SMP_ASSIGN_OR_RETURN(Directory directory, reader.findDirectory());
  std::vector<Bytes> ranges;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    SMP_ASSIGN_OR_RETURN(Entry entry, reader.readEntry(at, directory));
    if (!isSafeName(entry.name))
      return reader.damaged("a member whose name '" + entry.name +
                            "' leads out of the archive");
    SMP_ASSIGN_OR_RETURN(Bytes data, reader.dataOf(entry, directory));
    if (!data.empty())
      ranges.push_back(data);
    Member member{data, static_cast<uint32_t>(entry.checksum)};
    if (!archive.byName.emplace(entry.name, member).second)
      return reader.damaged("two members called '" + entry.name + "'");
  }
  if (overlap(std::move(ranges)))
    return reader.damaged("members that overlap");
  return archive;
}

Result<std::span<const std::byte>>
ZipArchive::read(std::string_view name) const {
  auto found = byName.find(name);
  if (found == byName.end())
    return Error{"'" + path() + "': expects a member '" + std::string(name) +
                 "', got none"};
  if (crc32(found->second.data) != found->second.checksum)
    return Error{"'" + path() + "': expects member '" + std::string(name) +
                     "' to match its checksum, got damaged bytes",
                 "copy or export the file again"};
  return found->second.data;
}

Result<std::string_view> ZipArchive::readText(std::string_view name) const {
  SMP_ASSIGN_OR_RETURN(Bytes data, read(name));
  return std::string_view(reinterpret_cast<const char *>(data.data()),
                          data.size());
}
