//===- Worlds.h - Where the conformance suite runs --------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_COMM_WORLDS_H
#define SMP_RUNTIME_TEST_COMM_WORLDS_H

#include "smp/runtime/Comm/Comm.h"
#include <functional>
#include <gtest/gtest.h>

/// Runs `body` on every rank of every world of the transport under test: the
/// threads of several sizes, or the processes mpirun has started.
void forEachWorld(const std::function<void(smp::runtime::Comm &)> &body);

inline void expectSuccess(const smp::Status &status) {
  EXPECT_TRUE(status) << status.error().str();
}

#endif // SMP_RUNTIME_TEST_COMM_WORLDS_H
