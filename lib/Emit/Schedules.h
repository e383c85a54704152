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

/// Raises the slots of the slotted arenas to what the module's schedules use.
llvm::LogicalResult countSlots(const Programs &programs,
                               std::vector<RankArenas> &ranks);

/// {"train": [...], "evaluate": [...], "predict": [...]} of one rank. `inputs`
/// are the names of the job's inputs, in the order of the manifest.
llvm::FailureOr<nlohmann::json>
schedulesToJson(const Programs &programs, const std::vector<RankArenas> &ranks,
                int64_t rank, const std::vector<std::string> &inputs);

} // namespace smp::emit

#endif // SMP_LIB_EMIT_SCHEDULES_H
