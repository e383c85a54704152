//===- Passes.cpp - The passes partition and stage -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Partition/Passes.h"
#include "smp/Partition/PartitionModule.h"
#include "smp/Schedule/Generators.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_PARTITIONPASS
#define GEN_PASS_DEF_STAGEPASS
#include "smp/Partition/Passes.h.inc"
} // namespace smp

namespace {

struct PartitionPass : smp::impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    if (partitions < 1 || !(memoryWeight >= 0 && memoryWeight <= 1)) {
      getOperation().emitError(
          "expects at least 1 partition and a memory weight "
          "from 0 to 1, got ")
          << partitions.getValue() << " and " << memoryWeight.getValue();
      return signalPassFailure();
    }
    PartitionOptions options;
    options.partitions = partitions;
    options.memoryWeight = memoryWeight;
    auto inFlight = schedule::stageInFlight(
        partitions, {schedule::ScheduleKind::Interleaved, microbatches});
    if (inFlight)
      options.inFlight = *inFlight;
    FailureOr<PartitionReport> report =
        partitionModule(getOperation(), options);
    if (failed(report))
      return signalPassFailure();
    for (const std::string &explanation : report->explanations)
      getOperation().emitRemark(explanation);
  }
};

struct StagePass : smp::impl::StagePassBase<StagePass> {
  void runOnOperation() override {
    if (failed(stageChunks(getOperation())))
      signalPassFailure();
  }
};

} // namespace
