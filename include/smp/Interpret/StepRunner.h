//===- StepRunner.h - Training steps of a module of any phase ---*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a training step means, whatever phase the module has reached: losses,
// gradients, updated parameters. Passes are tested by it: the same step before
// and after.
//
//   phase                      what is run
//   import ... partition       @train, differentiated as a whole; the update
//                              is the reference's own
//   stage                      the chunks' forward functions, joined again
//   differentiate, distribute  the programs of chunks and ranks, for all
//                              virtual pp x rdp ranks
//   schedule                   the same in the order of the schedule, through
//                              its transfers and slots
//
//===----------------------------------------------------------------------===//

#ifndef SMP_INTERPRET_STEPRUNNER_H
#define SMP_INTERPRET_STEPRUNNER_H

#include "smp/Interpret/Interpretable.h"
#include "smp/Interpret/Weights.h"
#include "smp/Support/Config.h"
#include <memory>
#include <optional>

namespace smp::interpret {

struct StepOptions {
  Precision precision = Precision::Native;
  /// Microbatches, accumulation, normalisation, optimizer, clipping, seed.
  Config config = {};
  /// Positions that have their own samples.
  int64_t owners = 1;
  /// Of the whole run, for the learning rate.
  int64_t totalSteps = 1;

  /// Microbatches of one owner in one step.
  int64_t microbatches() const {
    return config.microbatches * config.gradientAccumulation;
  }
};

struct StepResult {
  /// Sum of all terms of the loss, normalised for the whole step.
  double loss = 0;
  /// By name, samples in global order.
  TensorMap outputs;
  /// Before clipping, by the name under which the parameter is used, and
  /// summed over these by canonical name.
  TensorMap aliasGradients, gradients;
  std::optional<double> gradientNorm;
};

class StepRunner {
public:
  virtual ~StepRunner() = default;

  /// One update. `batch` holds all model inputs for owners · A · M · b rows, in
  /// global order of samples.
  llvm::LogicalResult run(int64_t step, const TensorMap &batch,
                          StepResult &result);

  /// Parameters and optimizer after the last step.
  const ModelState &state() const { return model; }

protected:
  StepRunner(mlir::ModuleOp module, ModelState model, StepOptions options);

  virtual llvm::LogicalResult runStep(int64_t step, const TensorMap &batch,
                                      StepResult &result) = 0;
  /// The names of the inputs that a step needs.
  virtual std::vector<std::string> inputNames() const = 0;

  /// What ops know in a microbatch (a·M + m) of an owner.
  Context contextOf(int64_t step, int64_t owner, int64_t microbatch,
                    Coordinate coordinate = {}) const;
  /// The rows of one input that belong to a microbatch of an owner.
  Tensor shareOf(const Tensor &input, int64_t owner, int64_t microbatch) const;

  mlir::ModuleOp module;
  ModelState model;
  StepOptions options;
  /// Rows of one microbatch of the current batch.
  int64_t rows = 1;

private:
  llvm::LogicalResult checkBatch(const TensorMap &batch);
};

/// The runner for the phase that `module` has reached; the module must outlive
/// it. Fails with a diagnostic.
llvm::FailureOr<std::unique_ptr<StepRunner>>
createStepRunner(mlir::ModuleOp module, ModelState model, StepOptions options);

} // namespace smp::interpret

#endif // SMP_INTERPRET_STEPRUNNER_H
