//===- PrintRanks.cpp - The table of ranks and groups ---------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrintRanks.h"
#include "smp/Support/Config.h"
#include "smp/Support/MappedFile.h"

#include <numeric>

using namespace smp;
using namespace smp::run;

Result<Grid> run::gridOf(const Options &options, std::optional<int> worldSize) {
  std::string text = "{}";
  if (!options.config.empty()) {
    SMP_ASSIGN_OR_RETURN(text, readFile(options.config));
  }
  auto parsed = parseConfig(text, options.configFlags);
  if (!parsed)
    return options.config.empty()
               ? parsed.error()
               : Error{"'" + options.config + "': " + parsed.error().message,
                       parsed.error().note};
  const Config &config = parsed->config;
  int pp = int(config.pipelineParallelDegree);
  int tp = int(config.tensorParallelDegree);
  return Grid::create(config.placementStrategy, pp, tp,
                      worldSize.value_or(options.ranks.value_or(pp * tp)));
}

Status run::useGroups(runtime::Comm &comm, const Grid &grid) {
  int id = 1;
  for (GroupKind kind : allGroupKinds) {
    std::vector<int> members = grid.members(kind, comm.rank());
    SMP_ASSIGN_OR_RETURN(runtime::Group group, comm.createGroup(members, id++));
    SMP_RETURN_IF_ERROR(comm.wait(comm.barrier(group)));
    int64_t sum = comm.rank();
    SMP_RETURN_IF_ERROR(
        comm.wait(comm.allReduce(group, DataType::I64, &sum, 1)));
    int64_t expected = std::accumulate(members.begin(), members.end(), 0);
    if (sum != expected)
      return Error{"group " + std::string(groupKindName(kind)) + " of rank " +
                   std::to_string(comm.rank()) +
                   " expects the sum of its ranks, " +
                   std::to_string(expected) + ", got " + std::to_string(sum)};
  }
  return {};
}
