//===- StepState.h - What a kernel knows about the step ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SUPPORT_STEPSTATE_H
#define SMP_SUPPORT_STEPSTATE_H

#include <cstdint>

namespace smp {

/// Filled by the runtime, one copy per launch, read by generated code: the
/// order and the types of the fields are part of the kernel ABI.
struct StepState {
  uint64_t seed;
  int64_t step;         ///< counts updates, from 0
  int64_t microbatch;   ///< accumulation·M + microbatch
  int64_t sampleOffset; ///< global index of the microbatch's first row
  int64_t axis[3];      ///< index on pp, tp, rdp
  double learningRate;
  double biasCorrection1; ///< 1 − beta1^(step + 1)
  double biasCorrection2;
  double lossScale;
  int64_t skip; ///< 0; an update looks at the norm itself
};
static_assert(sizeof(StepState) == 12 * 8, "the kernel ABI has no padding");

} // namespace smp

#endif // SMP_SUPPORT_STEPSTATE_H
