//===- Batches.cpp - The batches of an epoch ------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Data/Batches.h"
#include <algorithm>

using namespace smp::runtime;

Batch Batches::after(int64_t position, int64_t count) const {
  auto batchesIn = [&](int64_t rest) {
    return dropLast ? rest / rows : (rest + rows - 1) / rows;
  };
  int64_t epoch = position / samples, place = position % samples;
  int64_t here = batchesIn(samples - place);
  if (count >= here) {
    int64_t whole = batchesIn(samples);
    epoch += 1 + (count - here) / whole;
    place = 0;
    count = (count - here) % whole;
  }
  place += count * rows;
  return {epoch * samples + place, std::min(rows, samples - place)};
}
