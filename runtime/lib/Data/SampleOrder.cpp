//===- SampleOrder.cpp - Which sample stands at which position ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Data/SampleOrder.h"
#include "smp/Support/Philox.h"
#include <bit>
#include <cassert>

using namespace smp;
using namespace smp::runtime;

/// The site of the shuffle's random numbers; no op has it.
static constexpr uint64_t shuffleSite = fnv1a64("smp.data.order");

SampleOrder::SampleOrder(int64_t size, uint64_t seed)
    : count(size), seed(seed) {
  assert(size > 0 && "an order needs samples");
  int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  halfBits = bits < 2 ? 1 : (bits + 1) / 2;
}

SampleOrder SampleOrder::inFileOrder(int64_t size) {
  SampleOrder order(size, 0);
  order.shuffled = false;
  return order;
}

Sample SampleOrder::at(int64_t position) const {
  int64_t epoch = position / count;
  auto place = static_cast<uint64_t>(position % count);
  if (!shuffled)
    return {static_cast<int64_t>(place), -1};
  // A permutation of [0, 4^halfBits) followed until it is back in range is a
  // permutation of [0, count); the domain is at most four times as large.
  do
    place = permute(place, static_cast<uint64_t>(epoch));
  while (place >= static_cast<uint64_t>(count));
  return {static_cast<int64_t>(place), epoch};
}

/// A balanced Feistel network of six rounds with Philox as round function.
uint64_t SampleOrder::permute(uint64_t value, uint64_t epoch) const {
  const uint64_t mask = (uint64_t{1} << halfBits) - 1;
  PhiloxKey key = philoxKey(seed, shuffleSite);
  uint64_t left = value >> halfBits, right = value & mask;
  for (uint32_t round = 0; round < 6; ++round) {
    std::array<uint32_t, 4> words = philox4x32(
        {static_cast<uint32_t>(right),
         static_cast<uint32_t>(right >> 32) | round << 24,
         static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)},
        key);
    uint64_t mixed = words[0] | static_cast<uint64_t>(words[1]) << 32;
    uint64_t next = (left ^ mixed) & mask;
    left = right;
    right = next;
  }
  return left << halfBits | right;
}
