//===- TokenJob.h - A hand-made job that continues texts --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One parameter, no training; `predict` gives byte (b + 1) mod 256 the highest
// logit after byte b, so that what --generate must print is known.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_TEST_FIXTURES_TOKENJOB_H
#define SMP_RUNTIME_TEST_FIXTURES_TOKENJOB_H

#include "RegressionJob.h"

namespace smp::runtime::test {

JobFiles makeTokenJob(int64_t vocabulary = 256);

} // namespace smp::runtime::test

#endif // SMP_RUNTIME_TEST_FIXTURES_TOKENJOB_H
