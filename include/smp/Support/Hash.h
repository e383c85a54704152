//===- Hash.h - Hashes of names, files and chunks ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_HASH_H
#define SMP_SUPPORT_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smp {

/// The finaliser of SplitMix64, the golden gamma added first.
constexpr uint64_t splitmix64(uint64_t value) {
  value += 0x9E3779B97F4A7C15ull;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

/// FNV-1a over the bytes of a name.
constexpr uint64_t fnv1a64(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return hash;
}

/// XXH64 with seed 0: detects damage in data of any size at memory speed.
uint64_t xxh64(const void *data, size_t bytes);

/// SHA-256 (FIPS 180-4), in pieces.
class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// The digest in lower-case hexadecimal; the object is spent afterwards.
  std::string finish();

private:
  void compress(const unsigned char *block);
  std::array<uint32_t, 8> state;
  std::array<unsigned char, 64> pending;
  size_t pendingBytes = 0;
  uint64_t totalBytes = 0;
};

inline std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

} // namespace smp

#endif // SMP_SUPPORT_HASH_H
