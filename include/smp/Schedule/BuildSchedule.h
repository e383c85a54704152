//===- BuildSchedule.h - Writes the schedules of a module's chunks -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_BUILDSCHEDULE_H
#define SMP_SCHEDULE_BUILDSCHEDULE_H

#include "smp/Schedule/Generators.h"

#include "mlir/IR/BuiltinOps.h"

namespace smp {

/// The graph of a module's chunks: what their programs read and write.
/// Neighbouring chunks are joined by the edges `act.c<i>-c<i+1>` and
/// `cot.c<i+1>-c<i>`.
llvm::FailureOr<schedule::ChunkGraph> chunkGraphOf(mlir::ModuleOp module);

/// Appends the schedules `train`, `evaluate` and `predict` to a module of
/// differentiated chunks; emits an error when there is none.
llvm::LogicalResult buildSchedules(mlir::ModuleOp module,
                                   const schedule::ScheduleOptions &options);

/// Proves of the schedules of a module, whoever wrote them, that every
/// execution ends, that no slot is written while its value is still to be read,
/// and that each program runs once for each microbatch. Emits an error that
/// names the actions that are in each other's way.
llvm::LogicalResult verifySchedules(mlir::ModuleOp module);

} // namespace smp

#endif // SMP_SCHEDULE_BUILDSCHEDULE_H
