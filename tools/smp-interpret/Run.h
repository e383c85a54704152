//===- Run.h - What smp-interpret runs --------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_TOOLS_SMP_INTERPRET_RUN_H
#define SMP_TOOLS_SMP_INTERPRET_RUN_H

#include "smp/Interpret/StepRunner.h"

namespace smp::interpret {

enum class Graph { Train, Eval, Predict };

struct RunOptions {
  StepOptions step;
  Graph graph = Graph::Train;
  bool gradients = false;
  unsigned steps = 0;
};

/// The named results of the forward graph, of its gradients or of training, as
/// the options say; fails with a diagnostic.
llvm::FailureOr<TensorMap> runModule(mlir::ModuleOp module, ModelState model,
                                     const TensorMap &inputs,
                                     const RunOptions &options);

} // namespace smp::interpret

#endif // SMP_TOOLS_SMP_INTERPRET_RUN_H
