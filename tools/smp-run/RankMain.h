//===- RankMain.h - What one rank of smp-run does ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_RUN_RANKMAIN_H
#define SMP_TOOLS_SMP_RUN_RANKMAIN_H

#include "Options.h"
#include "smp/runtime/Comm/Comm.h"

namespace smp::run {

/// Everything from reading the job to the last line; all ranks call it. True
/// when the run was stopped by a signal.
Result<bool> runRank(const Options &options, runtime::Comm &comm);

/// To standard output, at once; an error where it is full or closed.
Status print(const std::string &text);

} // namespace smp::run

#endif // SMP_TOOLS_SMP_RUN_RANKMAIN_H
