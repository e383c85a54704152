//===- Schedules.h - The action lists of a job ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_EMIT_SCHEDULES_H
#define SMP_LIB_EMIT_SCHEDULES_H

#include "Arenas.h"

namespace smp::emit {

/// How far a program reaches into each arena without slots, by the name of its
/// function.
using Extents = std::map<std::string, std::map<unsigned, int64_t>>;

/// Raises the slots of the slotted arenas to what the module's schedules use,
/// and finds how much of each arena each of them does.
llvm::LogicalResult countUse(const Programs &programs, const Extents &extents,
                             std::vector<RankArenas> &ranks);

/// {"train": [...], "evaluate": [...], "predict": [...]} of one rank. `inputs`
/// are the names of the job's inputs, in the order of the manifest.
llvm::FailureOr<nlohmann::json>
schedulesToJson(const Programs &programs, const std::vector<RankArenas> &ranks,
                int64_t rank, const std::vector<std::string> &inputs);

} // namespace smp::emit

#endif // SMP_LIB_EMIT_SCHEDULES_H
