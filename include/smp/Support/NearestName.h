//===- NearestName.h - The name somebody may have meant ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For notes that start with `did you mean`.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_NEARESTNAME_H
#define SMP_SUPPORT_NEARESTNAME_H

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smp {

/// Number of letters to insert, delete or replace (Levenshtein 1966).
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// The element of `names` nearest to `name`, if near enough to be a slip: at
/// most a third of the letters differ, or two. Ties go to the first.
template <typename Range>
std::optional<std::string> nearestName(std::string_view name,
                                       const Range &names) {
  std::optional<std::string> best;
  size_t limit = std::max<size_t>(2, name.size() / 3);
  for (const auto &candidate : names) {
    size_t distance = editDistance(name, candidate);
    if (distance > limit || (best && distance == limit))
      continue;
    best = std::string(candidate);
    limit = distance;
  }
  return best;
}

} // namespace smp

#endif // SMP_SUPPORT_NEARESTNAME_H
