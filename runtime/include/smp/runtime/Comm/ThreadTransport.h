//===- ThreadTransport.h - Ranks as threads of one process ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_COMM_THREADTRANSPORT_H
#define SMP_RUNTIME_COMM_THREADTRANSPORT_H

#include "smp/runtime/Comm/Comm.h"
#include <functional>

namespace smp::runtime {

/// One communicator per rank, connected to each other.
std::vector<std::unique_ptr<Comm>> createThreadComms(int ranks);

/// Runs `body` once per rank, each in a thread of its own. The first error (by
/// rank, a cause before its consequences) is returned; a rank that fails
/// aborts the others.
Status runThreads(int ranks, const std::function<Status(Comm &)> &body);

} // namespace smp::runtime

#endif // SMP_RUNTIME_COMM_THREADTRANSPORT_H
