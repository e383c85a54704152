//===- Trainer.h - The training loop ----------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_SESSION_TRAINER_H
#define SMP_RUNTIME_SESSION_TRAINER_H

#include "smp/runtime/Session/Session.h"

namespace smp::runtime {

/// What a step whose loss or gradients are not finite does.
enum class OnNan {
  Stop, ///< ends the run with an error
  Skip  ///< leaves its update out
};

struct TrainOptions {
  int64_t steps = 0;               ///< in all, those of resumed runs included
  int64_t evalEvery = 0;           ///< 0: only after the last step
  int64_t saveEvery = 0;           ///< 0: only at the end
  std::string checkpointDirectory; ///< empty: nothing is saved
  std::string metrics;             ///< empty: none
  bool evaluates = false;          ///< evaluation data are open
  bool appendMetrics = false;
  OnNan onNan = OnNan::Stop;
  double peakFlops = 0; ///< measured, of all ranks together
  /// Where progress goes (rank 0); null: nowhere.
  std::FILE *log = nullptr;
  bool terminal = false; ///< rewrite one line
  /// Whether to finish the step, save and stop.
  bool (*stop)() = nullptr;
};

struct TrainSummary {
  int64_t steps = 0;
  double loss = 0;
  std::optional<double> evalLoss;
  bool interrupted = false;
  int64_t skipped = 0; ///< steps whose update was left out
};

/// Trains from step `first` on. With `OnNan::Stop` a loss or a norm that is not
/// finite ends the run with an error on all ranks, before anything is saved.
Result<TrainSummary> train(Session &session, const TrainOptions &options,
                           int64_t first);

} // namespace smp::runtime

#endif // SMP_RUNTIME_SESSION_TRAINER_H
