//===- ThreadWorlds.cpp - The conformance suite over threads --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worlds.h"
#include "smp/runtime/Comm/ThreadTransport.h"

using namespace smp;
using namespace smp::runtime;

void forEachWorld(const std::function<void(Comm &)> &body) {
  for (int ranks : {1, 2, 3, 4, 8}) {
    SCOPED_TRACE(ranks);
    expectSuccess(runThreads(ranks, [&](Comm &comm) {
      body(comm);
      return Status();
    }));
  }
}
