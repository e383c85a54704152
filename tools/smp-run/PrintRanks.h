//===- PrintRanks.h - The table of ranks and groups -------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_RUN_PRINTRANKS_H
#define SMP_TOOLS_SMP_RUN_PRINTRANKS_H

#include "Options.h"
#include "smp/Support/Grid.h"
#include "smp/runtime/Comm/Comm.h"

namespace smp::run {

/// The grid of --config, its flags and --ranks (default pp·tp).
Result<Grid> gridOf(const Options &options, std::optional<int> worldSize);

/// Builds every group that this rank is in; a barrier and a sum run on each.
Status useGroups(runtime::Comm &comm, const Grid &grid);

} // namespace smp::run

#endif // SMP_TOOLS_SMP_RUN_PRINTRANKS_H
