//===- PoisonPlan.h - Which ranges die when ---------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is what one command (or receive) wrote to a range; it is dead when
// its last reader is complete. With --poison its bytes become NaN at that
// moment, so that whoever reads it later, or relies on leftovers of the step
// before, spoils the result where a test sees it.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_RUNTIME_LIB_EXECUTOR_POISONPLAN_H
#define SMP_RUNTIME_LIB_EXECUTOR_POISONPLAN_H

#include "smp/runtime/Device/Arenas.h"

namespace smp::runtime {

class PoisonPlan {
public:
  PoisonPlan(const Job &job, const RankJob &rankJob, const Schedule &schedule);

  /// Poisons all scratch memory: a step starts from nothing.
  void begin(const Arenas &arenas);
  /// To be called before whoever waits for the command is started. `command`
  /// is 0 for transfers.
  void complete(unsigned action, unsigned command, const Arenas &arenas);

private:
  struct Range {
    unsigned arena;
    int64_t begin, end;
  };
  struct Death {
    Range range;
    unsigned events = 0; ///< accesses of the value
  };
  class Builder;

  bool isKept(const Range &range) const;
  static void poison(const Arenas &arenas, const Range &range);

  std::vector<unsigned> scratch;    ///< arenas
  std::vector<Range> kept;          ///< outputs, read afterwards
  std::vector<unsigned> firstEvent; ///< by action
  std::vector<Death> deaths;
  std::vector<std::vector<unsigned>> deathsOf; ///< by event
  std::vector<unsigned> remaining;             ///< by death, in this step
};

} // namespace smp::runtime

#endif // SMP_RUNTIME_LIB_EXECUTOR_POISONPLAN_H
