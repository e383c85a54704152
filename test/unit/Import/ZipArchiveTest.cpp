//===- ZipArchiveTest.cpp - Tests of the zip reader -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/ZipArchive.h"
#include "ZipBuilder.h"

using namespace smp;
using namespace smp::pt2;
using namespace smp::test;

namespace {

/// The message of opening these bytes; empty if they open.
std::string messageOf(const std::string &bytes) {
  Result<ZipArchive> archive = ZipArchive::open(fileOf(bytes));
  return archive ? "" : archive.error().str();
}

ZipBuilder twoMembers() {
  ZipBuilder zip;
  zip.add("top/a", "first");
  zip.add("top/b", "second");
  return zip;
}

TEST(ZipArchive, readsStoredMembers) {
  Result<ZipArchive> archive = ZipArchive::open(fileOf(twoMembers().str()));
  ASSERT_TRUE(archive);
  Result<std::string_view> text = archive->readText("top/b");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "second");
  Result<std::string_view> none = archive->readText("top/c");
  ASSERT_FALSE(none);
  EXPECT_TRUE(
      contains(none.error().message, "expects a member 'top/c', got none"));
}

TEST(ZipArchive, refusesEveryTruncation) {
  std::string whole = twoMembers().str();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(messageOf(whole.substr(0, size)), "") << size;
}

TEST(ZipArchive, noticesAFlippedBitOfContent) {
  std::string whole = twoMembers().str();
  whole[whole.find("second")] ^= 1;
  Result<ZipArchive> archive = ZipArchive::open(fileOf(whole));
  ASSERT_TRUE(archive);
  Result<std::string_view> text = archive->readText("top/b");
  ASSERT_FALSE(text);
  EXPECT_TRUE(contains(text.error().message, "to match its checksum"));
}

TEST(ZipArchive, survivesFlippedBits) {
  std::string whole = twoMembers().str();
  for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
    std::string flipped = whole;
    flipped[bit / 8] ^= 1 << bit % 8;
    if (Result<ZipArchive> archive = ZipArchive::open(fileOf(flipped)))
      for (const auto &[name, member] : archive->members())
        (void)bool(archive->read(name));
  }
}

TEST(ZipArchive, refusesCompressedMembers) {
  ZipBuilder zip;
  zip.add("top/a", "packed").method = 8;
  EXPECT_TRUE(contains(
      messageOf(zip.str()),
      "expects stored members, got member 'top/a' compressed by method 8"));
}

TEST(ZipArchive, refusesEncryptedMembers) {
  ZipBuilder zip;
  zip.add("top/a", "secret").flags = 1;
  EXPECT_TRUE(contains(messageOf(zip.str()), "which is encrypted"));
}

TEST(ZipArchive, refusesNamesThatLeadOut) {
  for (const char *name : {"../a", "/a", "top/../../a", "c:\\a", "a\\..\\b"}) {
    ZipBuilder zip;
    zip.add(name, "x");
    EXPECT_TRUE(contains(messageOf(zip.str()), "leads out of the archive"))
        << name;
  }
}

TEST(ZipArchive, refusesMembersLargerThanTheFile) {
  ZipBuilder zip;
  zip.add("top/a", "little").size = 1 << 30;
  EXPECT_TRUE(contains(messageOf(zip.str()), "more than the file has"));
}

TEST(ZipArchive, refusesOverlappingMembers) {
  ZipBuilder zip;
  // The first member claims the bytes of the second.
  zip.add("top/a", "aaaa").size = 60;
  zip.add("top/b", std::string(80, 'b'));
  EXPECT_TRUE(contains(messageOf(zip.str()), "members that overlap"));
}

TEST(ZipArchive, refusesTwoMembersOfOneName) {
  ZipBuilder zip;
  zip.add("top/a", "x");
  zip.add("top/a", "y");
  EXPECT_TRUE(contains(messageOf(zip.str()), "two members called 'top/a'"));
}

} // namespace
