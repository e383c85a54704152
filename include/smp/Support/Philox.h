//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-7 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A number is a pure function of seed, site, sample and element
// index, so results do not depend on threads, ranks or placement. Generated
// code computes the same function.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_PHILOX_H
#define SMP_SUPPORT_PHILOX_H

#include "smp/Support/Hash.h"
#include <array>
#include <cstdint>

namespace smp {

struct PhiloxKey {
  uint32_t low, high;
};

/// The key of a site (of an op, or of a parameter's initialiser).
constexpr PhiloxKey philoxKey(uint64_t seed, uint64_t site) {
  uint64_t mixed = splitmix64(seed ^ splitmix64(site));
  return {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)};
}

/// One block of four words, seven rounds.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                             PhiloxKey key) {
  for (int round = 0; round < 7; ++round) {
    uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key.low,
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key.high,
               static_cast<uint32_t>(product0)};
    key.low += 0x9E3779B9u;
    key.high += 0xBB67AE85u;
  }
  return counter;
}

/// The block that holds elements 4·block .. 4·block+3 of a sample.
constexpr std::array<uint32_t, 4> philoxBlock(PhiloxKey key, uint64_t sample,
                                              uint64_t block) {
  return philox4x32(
      {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
       static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32)},
      key);
}

/// The upper 24 bits of a word as a number in [0, 1).
constexpr float uniformFromWord(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// The number in [0, 1) of one element of one sample.
constexpr float philoxUniform(PhiloxKey key, uint64_t sample,
                              uint64_t element) {
  return uniformFromWord(philoxBlock(key, sample, element / 4)[element % 4]);
}

} // namespace smp

#endif // SMP_SUPPORT_PHILOX_H
