//===- Forward.h - Runs a model's forward graph -----------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_FORWARD_H
#define SMP_INTERPRET_FORWARD_H

#include "smp/Interpret/Interpretable.h"
#include "smp/Interpret/Weights.h"

namespace smp::interpret {

struct ForwardOptions {
  Precision precision = Precision::Native;
  uint64_t seed = 0;
};

/// The results, by name, of a graph ("train", "eval" or "predict") on inputs
/// by name. After `stage` the chunks' functions are joined. Fails with a
/// diagnostic, also for missing or misshapen inputs.
llvm::FailureOr<TensorMap> runForward(mlir::ModuleOp module,
                                      llvm::StringRef graph,
                                      const ModelState &model,
                                      const TensorMap &inputs,
                                      const ForwardOptions &options);

} // namespace smp::interpret

#endif // SMP_INTERPRET_FORWARD_H
