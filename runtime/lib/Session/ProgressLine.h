//===- ProgressLine.h - How far the training is, for people -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_SESSION_PROGRESSLINE_H
#define SMP_RUNTIME_LIB_SESSION_PROGRESSLINE_H

#include "smp/runtime/Session/Trainer.h"

namespace smp::runtime {

/// One line that is rewritten on a terminal; now and then a line in a log.
class ProgressLine {
public:
  ProgressLine(std::FILE *file, const Session &session,
               const TrainOptions &options);

  /// After `step` (from 0), which took `seconds` for so many tokens or samples.
  void step(int64_t step, int64_t units, double loss, double seconds);
  /// A line that stays.
  void note(const std::string &text);
  /// Ends the rewritten line.
  void finish();

  /// Tokens or samples per second, averaged over the last steps.
  double unitsPerSecond() const;

private:
  std::FILE *file;
  bool terminal = false, open = false;
  const char *unit;
  double flopsPerStep, peakFlops;
  int64_t steps;
  double average = 0;      ///< seconds per step
  double averageUnits = 0; ///< per step
  double lastLine = -1;    ///< seconds
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_SESSION_PROGRESSLINE_H
