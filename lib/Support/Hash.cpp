//===- Hash.cpp - Hashes of names, files and chunks -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Support/Hash.h"
#include <bit>
#include <cstring>

using namespace smp;

static uint64_t readWord(const unsigned char *data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

namespace {
/// The constants and steps of the XXH64 specification.
struct Xxh64 {
  static constexpr uint64_t p1 = 0x9E3779B185EBCA87ull;
  static constexpr uint64_t p2 = 0xC2B2AE3D27D4EB4Full;
  static constexpr uint64_t p3 = 0x165667B19E3779F9ull;
  static constexpr uint64_t p4 = 0x85EBCA77C2B2AE63ull;
  static constexpr uint64_t p5 = 0x27D4EB2F165667C5ull;

  static uint64_t round(uint64_t lane, uint64_t word) {
    return std::rotl(lane + word * p2, 31) * p1;
  }
  static uint64_t merge(uint64_t hash, uint64_t lane) {
    return (hash ^ round(0, lane)) * p1 + p4;
  }
};
} // namespace

uint64_t smp::xxh64(const void *input, size_t bytes) {
  using X = Xxh64;
  const auto *data = static_cast<const unsigned char *>(input);
  const unsigned char *end = data + bytes;
  uint64_t hash = X::p5;
  if (bytes >= 32) {
    uint64_t lane[4] = {X::p1 + X::p2, X::p2, 0, 0 - X::p1};
    for (; end - data >= 32; data += 32)
      for (size_t i = 0; i < 4; ++i)
        lane[i] = X::round(lane[i], readWord(data + 8 * i));
    hash = std::rotl(lane[0], 1) + std::rotl(lane[1], 7) +
           std::rotl(lane[2], 12) + std::rotl(lane[3], 18);
    for (uint64_t value : lane)
      hash = X::merge(hash, value);
  }
  hash += bytes;
  for (; end - data >= 8; data += 8)
    hash = std::rotl(hash ^ X::round(0, readWord(data)), 27) * X::p1 + X::p4;
  if (end - data >= 4) {
    uint32_t word;
    std::memcpy(&word, data, sizeof word);
    hash = std::rotl(hash ^ word * X::p1, 23) * X::p2 + X::p3;
    data += 4;
  }
  for (; data != end; ++data)
    hash = std::rotl(hash ^ *data * X::p5, 11) * X::p1;
  hash = (hash ^ (hash >> 33)) * X::p2;
  hash = (hash ^ (hash >> 29)) * X::p3;
  return hash ^ (hash >> 32);
}

static constexpr uint32_t sha256Constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

Sha256::Sha256()
    : state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::compress(const unsigned char *block) {
  uint32_t w[64];
  for (size_t i = 0; i < 16; ++i)
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
           uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 =
        std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 =
        std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  std::array<uint32_t, 8> v = state; // a b c d e f g h
  for (int i = 0; i < 64; ++i) {
    uint32_t s1 =
        std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
    uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t t1 = v[7] + s1 + choice + sha256Constants[i] + w[i];
    uint32_t s0 =
        std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
    uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    v = {t1 + s0 + majority, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
  }
  for (int i = 0; i < 8; ++i)
    state[i] += v[i];
}

void Sha256::update(const void *input, size_t bytes) {
  const auto *data = static_cast<const unsigned char *>(input);
  totalBytes += bytes;
  while (bytes) {
    if (!pendingBytes && bytes >= 64) {
      compress(data);
      data += 64;
      bytes -= 64;
      continue;
    }
    size_t taken = bytes < 64 - pendingBytes ? bytes : 64 - pendingBytes;
    std::memcpy(pending.data() + pendingBytes, data, taken);
    pendingBytes += taken;
    data += taken;
    bytes -= taken;
    if (pendingBytes == 64) {
      compress(pending.data());
      pendingBytes = 0;
    }
  }
}

std::string Sha256::finish() {
  uint64_t bits = totalBytes * 8;
  unsigned char padding[72] = {0x80};
  size_t length = (pendingBytes < 56 ? 56 : 120) - pendingBytes;
  for (int i = 0; i < 8; ++i)
    padding[length + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
  update(padding, length + 8);
  std::string text;
  for (uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4)
      text += "0123456789abcdef"[(word >> shift) & 15];
  return text;
}
