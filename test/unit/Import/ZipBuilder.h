//===- ZipBuilder.h - Small zip files for tests -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TEST_UNIT_IMPORT_ZIPBUILDER_H
#define SMP_TEST_UNIT_IMPORT_ZIPBUILDER_H

#include "Fixtures/TemporaryPath.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace smp::test {

/// Writes members stored, in order. Fields can be forged after `add`.
class ZipBuilder {
public:
  struct Member {
    std::string name, content;
    uint32_t method = 0;
    uint32_t flags = 0;
    uint32_t checksum = 0;
    uint32_t size = 0;
  };

  Member &add(std::string name, std::string content) {
    uint32_t checksum = crc(content), size = content.size();
    return members.emplace_back(
        Member{std::move(name), std::move(content), 0, 0, checksum, size});
  }

  std::string str() const {
    std::string local, central;
    for (const Member &m : members) {
      uint32_t offset = local.size();
      std::string common = number(m.flags, 2) + number(m.method, 2) +
                           number(0, 4) + number(m.checksum, 4) +
                           number(m.size, 4) + number(m.size, 4) +
                           number(m.name.size(), 2) + number(0, 2);
      local += "PK\x03\x04" + number(20, 2) + common + m.name + m.content;
      central += "PK\x01\x02" + number(20, 2) + number(20, 2) + common +
                 number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(offset, 4) + m.name;
    }
    return local + central + "PK\x05\x06" + number(0, 4) +
           number(members.size(), 2) + number(members.size(), 2) +
           number(central.size(), 4) + number(local.size(), 4) + number(0, 2);
  }

private:
  static std::string number(uint64_t value, int width) {
    std::string bytes;
    for (int i = 0; i < width; ++i)
      bytes += char(value >> (8 * i));
    return bytes;
  }

  static uint32_t crc(const std::string &content) {
    static const auto table = [] {
      std::array<uint32_t, 256> entries{};
      for (uint32_t i = 0; i < 256; ++i) {
        entries[i] = i;
        for (int bit = 0; bit < 8; ++bit)
          entries[i] = (entries[i] >> 1) ^ (entries[i] & 1 ? 0xedb88320u : 0u);
      }
      return entries;
    }();
    uint32_t value = ~0u;
    for (unsigned char byte : content)
      value = (value >> 8) ^ table[(value ^ byte) & 0xff];
    return ~value;
  }

  std::vector<Member> members;
};

/// A file of the running test with this content.
inline std::string fileOf(const std::string &content) {
  const auto *info = testing::UnitTest::GetInstance()->current_test_info();
  std::string path = runtime::test::temporaryPath(
      std::string(info->test_suite_name()) + "-" + info->name());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace smp::test

#endif // SMP_TEST_UNIT_IMPORT_ZIPBUILDER_H
