//===- LinearPartition.h - Best cuts of a line of units ---------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts a linear order of units into consecutive stages so that the largest
// stage cost is as small as it can be:
//
//   cost(stage) = memory_weight · memory / total memory
//               + (1 − memory_weight) · time / total time
//
// Memory of a stage is what its units hold all the time plus what they save for
// each microbatch in flight on that stage (early stages hold more). Time is
// that of its units plus its transfers. Totals are those of one device that
// holds everything, with the largest number in flight: constants, so that the
// objective of two plans can be compared.
//
// A dynamic programme over (stage, last unit), exact for the given order. Among
// plans with the best objective the one with the fewest transferred bytes wins,
// then the one that splits the fewest modules, then the earliest cuts.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_PARTITION_LINEARPARTITION_H
#define SMP_PARTITION_LINEARPARTITION_H

#include "smp/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smp::partition {

/// What is never cut: an op, or ops that stay together.
struct Unit {
  std::string path;          ///< module path, dots between names
  double time = 0;           ///< seconds of forward and backward, a microbatch
  int64_t residentBytes = 0; ///< parameters, gradients, optimizer state
  int64_t stashBytes = 0;    ///< saved for backward, a microbatch
  std::optional<int> pin = {}; ///< stage it must be on
};

/// The place between two neighbouring units.
struct Cut {
  int64_t bytes = 0; ///< that cross it, a microbatch, both directions
  bool allowed = true;
};

struct LinearProblem {
  std::vector<Unit> units;
  /// `cuts[i]` lies between unit i and unit i + 1.
  std::vector<Cut> cuts;
  int stages = 1;
  double memoryWeight = 0.8;
  /// By stage; see `schedule::stageInFlight`. Empty means 1 everywhere.
  std::vector<int64_t> inFlight;
  /// Time of one byte that crosses a cut, charged to both its stages.
  double secondsPerByte = 0;
  /// Bytes that fit on a device; 0 means no limit.
  int64_t memoryLimit = 0;
};

struct StageCost {
  double time = 0;
  int64_t memory = 0;
  double cost = 0;
};

struct LinearPlan {
  /// First unit of each stage; `begin[0]` is 0.
  std::vector<int> begin;
  std::vector<StageCost> stages;
  double objective = 0;
  int64_t transferBytes = 0;
  /// No cut of this linear order is better: equal to `objective`.
  double orderBound = 0;
  /// No partition at all, of any order of the units, is better.
  double anyOrderBound = 0;
  /// One line a cut: where, what crosses, why there.
  std::vector<std::string> explanations;

  int stageOf(int unit) const;
};

/// The best plan; an error when there are fewer units than stages, when pins
/// contradict the order, or when nothing fits (it says which stage needs how
/// much in the plan that needs least, and what would help).
Result<LinearPlan> partitionLinear(const LinearProblem &problem);

/// Costs, bytes and explanations of given cuts: plans read from a file and
/// manual ones are reported in the same terms.
Result<LinearPlan> evaluatePlan(const LinearProblem &problem,
                                const std::vector<int> &begin);

} // namespace smp::partition

#endif // SMP_PARTITION_LINEARPARTITION_H
