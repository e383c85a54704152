//===- MappedFileTest.cpp - Files that are written -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/MappedFile.h"
#include "smp/Support/MappedPath.h"
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace smp;
namespace fs = std::filesystem;

namespace {
class WriteFile : public testing::Test {
protected:
  std::string folder =
      testing::TempDir() + "smp-write-file-" + std::to_string(getpid());
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
};
} // namespace

TEST_F(WriteFile, KeepsLinks) {
  std::string target = folder + "/target", link = folder + "/link";
  fs::create_symlink("target", link); // which is not there yet
  for (const char *content : {"one", "two"}) {
    ASSERT_TRUE(writeFileAtomically(link, content));
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(*readFile(target), content);
  }
  EXPECT_TRUE(isSameFile(target, link));
  EXPECT_FALSE(isSameFile(target, folder));
  EXPECT_FALSE(isSameFile(target, folder + "/nowhere"));
  EXPECT_TRUE(isSameFile(folder + "/new", folder + "/./new"));
  EXPECT_FALSE(isSameFile(folder + "/new", folder + "/other"));
}

TEST_F(WriteFile, WritesIntoWhatIsNoFile) {
  std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int reader = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_TRUE(writeFileAtomically(pipe, "three"));
  EXPECT_TRUE(fs::is_fifo(pipe));
  char text[8] = "";
  EXPECT_EQ(read(reader, text, sizeof text), 5);
  EXPECT_STREQ(text, "three");
  close(reader);
  // Reading would wait for a writer.
  for (const Error &error :
       {MappedFile::open(pipe).error(), readFile(pipe).error()})
    EXPECT_EQ(error.message,
              "expects '" + pipe + "' to be a regular file, got a pipe");
}

TEST_F(WriteFile, IsCheckedBefore) {
  EXPECT_TRUE(checkWritable(folder + "/new"));
  EXPECT_FALSE(fs::exists(folder + "/new"));
  EXPECT_TRUE(checkWritable("/dev/null"));
  EXPECT_EQ(checkWritable(folder).error().message,
            "expects a file to write at '" + folder + "', got a folder");
  EXPECT_EQ(checkWritable(folder + "/nowhere/new").error().message,
            "cannot create '" + folder +
                "/nowhere/new': No such file or directory");
}

TEST(MappedFile, AnAddressLeadsToItsPath) {
  std::string path = testing::TempDir() + "mapped-address";
  ASSERT_TRUE(writeFileAtomically(path, "content"));
  const std::byte *address = nullptr;
  {
    auto file = MappedFile::open(path);
    ASSERT_TRUE(file);
    MappedFile moved = std::move(*file);
    address = moved.bytes().data();
    ASSERT_NE(findMappedPath(address + 6), nullptr);
    EXPECT_EQ(findMappedPath(address + 6), path);
    EXPECT_EQ(findMappedPath(&path), nullptr);
  }
  EXPECT_EQ(findMappedPath(address), nullptr);
}
