//===- RandomGraph.h - Random models for property tests ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Well-typed models made from a seed: linear layers, norms, attention,
// activations, skip connections, tied parameters, a mean-type loss of one or
// two terms. No op mixes samples but the loss, so that microbatches, replicas
// and stages must not change what a step computes.
//
//   RandomModel model = buildRandomModel(context, {.seed = 7});
//   TensorMap batch = randomBatch(model, 8, /*seed=*/1);
//   ... run a step of *model.module, a pass, the step again, compare.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_RANDOMGRAPH_H
#define SMP_INTERPRET_RANDOMGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "smp/Interpret/Tensor.h"
#include <random>

namespace smp::interpret {

struct RandomGraphOptions {
  uint64_t seed = 0;
  /// Blocks between embedding and head.
  int blocks = 5;
  /// Rows of a microbatch, which the types fix (`smp.rows`).
  int64_t rows = 2;
  /// Draw random numbers, too.
  bool dropout = false;
};

struct RandomModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Tokens and labels are below it.
  int64_t vocabulary = 0;
  int64_t rows = 0;
};

/// A specialized module with @train(tokens, features, labels) and @eval; the
/// context must have the dialects smp and func loaded.
RandomModel buildRandomModel(mlir::MLIRContext *context,
                             const RandomGraphOptions &options);

/// Inputs of any number of rows; some labels are ignored.
TensorMap randomBatch(const RandomModel &model, int64_t rows, uint64_t seed);

/// Uniform numbers in [low, high).
Tensor randomTensor(std::mt19937_64 &random, Shape shape, double low = -1,
                    double high = 1);

} // namespace smp::interpret

#endif // SMP_INTERPRET_RANDOMGRAPH_H
