//===- Assignment.cpp - Manual partitions by module path ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/Assignment.h"

#include "smp/Support/NearestName.h"

#include <algorithm>
#include <set>

namespace smp::partition {

bool isAncestor(std::string_view ancestor, std::string_view path) {
  return ancestor.empty() || path == ancestor ||
         (path.starts_with(ancestor) && path[ancestor.size()] == '.');
}

/// The path itself and all modules around it, innermost first, the empty path
/// of the whole model last.
template <typename Function>
static void forEachAncestor(std::string_view path, Function function) {
  while (!path.empty()) {
    if (!function(path))
      return;
    size_t dot = path.rfind('.');
    path = dot == std::string_view::npos ? "" : path.substr(0, dot);
  }
  function(path);
}

static Status checkEntries(const Assignment &assignment,
                           const std::vector<std::string> &paths) {
  std::string range = "from 0 to " + std::to_string(assignment.partitions - 1);
  auto inRange = [&](int partition) {
    return partition >= 0 && partition < assignment.partitions;
  };
  if (assignment.defaultPartition && !inRange(*assignment.defaultPartition))
    return Error{"expects 'default_partition' " + range + ", got " +
                 std::to_string(*assignment.defaultPartition)};
  std::set<std::string, std::less<>> modules;
  for (const std::string &path : paths)
    forEachAncestor(path, [&](std::string_view module) {
      return modules.emplace(module).second;
    });
  for (const auto &[path, partition] : assignment.partitionOfPath) {
    if (!inRange(partition))
      return Error{"expects a partition " + range + " for '" + path +
                   "' in 'assignment', got " + std::to_string(partition)};
    if (path.empty() || modules.count(path))
      continue;
    modules.erase(""); // no slip of a name
    std::optional<std::string> nearest = nearestName(path, modules);
    return Error{"expects module paths of the model in 'assignment', got '" +
                     path + "'",
                 nearest ? "did you mean '" + *nearest + "'"
                         : "the model has no module of that name"};
  }
  return {};
}

Result<std::vector<std::optional<int>>>
resolveAssignment(const Assignment &assignment,
                  const std::vector<std::string> &paths) {
  SMP_RETURN_IF_ERROR(checkEntries(assignment, paths));
  std::vector<std::optional<int>> partitions;
  for (const std::string &path : paths) {
    std::optional<int> partition = assignment.defaultPartition;
    forEachAncestor(path, [&](std::string_view module) {
      auto entry = assignment.partitionOfPath.find(std::string(module));
      if (entry == assignment.partitionOfPath.end())
        return true;
      partition = entry->second;
      return false;
    });
    partitions.push_back(partition);
  }
  return partitions;
}

Result<std::vector<Run>> runsOf(const std::vector<int> &partitionOfUnit,
                                int partitions, bool contiguous) {
  std::vector<Run> runs;
  std::vector<int> pieces(partitions);
  for (int i = 0; i < static_cast<int>(partitionOfUnit.size()); ++i) {
    int partition = partitionOfUnit[i];
    if (partition < 0 || partition >= partitions)
      return Error{"expects a partition from 0 to " +
                   std::to_string(partitions - 1) + " for every unit, got " +
                   std::to_string(partition)};
    if (!runs.empty() && runs.back().partition == partition) {
      runs.back().end = i + 1;
      continue;
    }
    runs.push_back({i, i + 1, partition});
    ++pieces[partition];
  }
  for (int partition = 0; partition < partitions; ++partition) {
    if (pieces[partition] == 0)
      return Error{"expects work for every partition, got none for partition " +
                       std::to_string(partition),
                   "assign a module to it or lower "
                   "'pipeline_parallel_degree'"};
    if (contiguous && pieces[partition] > 1)
      return Error{"expects each partition to be one piece of the model, got "
                   "partition " +
                       std::to_string(partition) + " in " +
                       std::to_string(pieces[partition]) + " pieces",
                   "set 'contiguous' to false to allow it"};
  }
  return runs;
}

} // namespace smp::partition
