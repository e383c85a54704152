//===- HashTest.cpp - Hashes of names, files and chunks -------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Hash.h"
#include <gtest/gtest.h>

using namespace smp;

TEST(Hash, SplitMix64) {
  // The first outputs of SplitMix64 from state 0.
  EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFull);
  EXPECT_EQ(splitmix64(0x9E3779B97F4A7C15ull), 0x6E789E6AA1B965F4ull);
}

TEST(Hash, Fnv1a64) {
  EXPECT_EQ(fnv1a64(""), 0xCBF29CE484222325ull);
  EXPECT_EQ(fnv1a64("a"), 0xAF63DC4C8601EC8Cull);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171F73967E8ull);
}

TEST(Hash, Xxh64) {
  EXPECT_EQ(xxh64("", 0), 0xEF46DB3751D8E999ull);
  EXPECT_EQ(xxh64("abc", 3), 0x44BC2CF5AD770999ull);
  std::string text = "The quick brown fox jumps over the lazy dog";
  EXPECT_EQ(xxh64(text.data(), text.size()), 0x0B242D361FDA71BCull);
}

TEST(Hash, Sha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb924"
                        "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223"
                           "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, Sha256InPieces) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += static_cast<char>(i * 7);
  for (size_t piece : {1, 55, 56, 63, 64, 65, 200}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
  }
}
