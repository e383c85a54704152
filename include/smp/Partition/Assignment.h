//===- Assignment.h - Manual partitions by module path ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys `assignment` and `default_partition`: a module path goes to the
// partition of its innermost assigned ancestor (itself included), everything
// else to the default. The empty path is the whole model.
//
//   assignment {"transformer.h": 1, "transformer.h.0": 0}, default 0
//     transformer.h.0.mlp -> 0    transformer.h.3 -> 1    transformer.wte -> 0
//
//===----------------------------------------------------------------------===//

#ifndef SMP_PARTITION_ASSIGNMENT_H
#define SMP_PARTITION_ASSIGNMENT_H

#include "smp/Support/Result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smp::partition {

struct Assignment {
  std::map<std::string, int> partitionOfPath = {};
  /// Required for a manual partition; absent when the entries are only pins.
  std::optional<int> defaultPartition = {};
  int partitions = 1;
};

/// The partition of each path, nothing where no entry and no default applies.
/// An error for an assigned path that is no path or ancestor of `paths` (with
/// the nearest one) and for a partition out of range.
Result<std::vector<std::optional<int>>>
resolveAssignment(const Assignment &assignment,
                  const std::vector<std::string> &paths);

/// A run of consecutive units on one partition.
struct Run {
  int begin = 0, end = 0; ///< units [begin, end)
  int partition = 0;
};

/// Cuts a linear order into runs of equal partition: the chunks, in order. An
/// error when a partition is left without units, or has several runs although
/// `contiguous` asks for one.
Result<std::vector<Run>> runsOf(const std::vector<int> &partitionOfUnit,
                                int partitions, bool contiguous);

/// True when `ancestor` is `path` or a module around it.
bool isAncestor(std::string_view ancestor, std::string_view path);

} // namespace smp::partition

#endif // SMP_PARTITION_ASSIGNMENT_H
