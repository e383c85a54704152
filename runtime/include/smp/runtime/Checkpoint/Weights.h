//===- Weights.h - Initial weights from a file ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_CHECKPOINT_WEIGHTS_H
#define SMP_RUNTIME_CHECKPOINT_WEIGHTS_H

#include "smp/Support/Safetensors.h"
#include "smp/runtime/Checkpoint/Checkpoint.h"

namespace smp::runtime {

struct WeightTarget {
  LoadTarget target;
  std::vector<std::string> aliases; ///< other names it may stand under
  bool optional = false;            ///< keeps its value if the file has none
};

/// Fills every target from a safetensors file under PyTorch's names,
/// converting between floating types. All that is missing or misshapen is
/// named in one error. Returns the names of the file that nobody asked for.
Result<std::vector<std::string>>
loadWeights(const std::string &path, std::span<const WeightTarget> targets);

} // namespace smp::runtime

#endif // SMP_RUNTIME_CHECKPOINT_WEIGHTS_H
