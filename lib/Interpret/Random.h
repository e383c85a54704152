//===- Random.h - Which elements dropout keeps ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_INTERPRET_RANDOM_H
#define SMP_LIB_INTERPRET_RANDOM_H

#include "smp/Support/Philox.h"
#include "smp/Support/StepState.h"

namespace smp::interpret {

/// The factor of each element under dropout: a function of seed, site, sample
/// and the element's place in its sample, whatever the rank and microbatch.
class DropoutMask {
public:
  DropoutMask(const StepState &step, int64_t site, double probability,
              int64_t elementsPerSample)
      : key(philoxKey(step.seed, static_cast<uint64_t>(site))),
        firstSample(step.sampleOffset), probability(probability),
        elementsPerSample(elementsPerSample) {}

  double factor(int64_t element) const {
    if (probability == 0)
      return 1;
    float u = philoxUniform(key, firstSample + element / elementsPerSample,
                            element % elementsPerSample);
    return u < static_cast<float>(probability) ? 0 : 1 / (1 - probability);
  }

private:
  PhiloxKey key;
  int64_t firstSample;
  double probability;
  int64_t elementsPerSample;
};

} // namespace smp::interpret

#endif // SMP_LIB_INTERPRET_RANDOM_H
