//===- Passes.td - Passes that schedule -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SCHEDULE_PASSES_TD
#define SMP_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"smp-schedule", "::mlir::ModuleOp"> {
  let summary = "lists for each pp rank the actions of a step";
  let description = [{
    Orders the programs of all chunks and microbatches, adds transfers, loads
    and slots, and writes the lists as `smp.schedule` ops named `train`,
    `evaluate` and `predict`. The lists are proved to end, and never to use a
    slot while it is live, before they are written.

    Example of one action:

    ```mlir
    smp.launch @chunk0_forward chunk 0 microbatch 1 slots {stash.c0 = 1 : i64} waits [3]
    ```
  }];
  let options = [
    Option<"pipeline", "pipeline", "std::string", "\"interleaved\"",
           "Schedule: simple, 1f1b or interleaved">,
    Option<"microbatches", "microbatches", "int64_t", "1",
           "Microbatches of a batch">,
    Option<"accumulation", "accumulation", "int64_t", "1",
           "Batches of a step, one after the other">,
    Option<"activeMicrobatches", "active-microbatches", "int64_t", "0",
           "Most microbatches in flight on a stage; 0 means as many as needed">];
  let dependentDialects = ["::smp::SmpDialect"];
}

def VerifySchedulePass : Pass<"smp-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "proves that schedules end and never overwrite a value in use";
  let description = [{
    Proves of each `smp.schedule`, whoever wrote it, that every execution ends,
    that a slot is never written while its value is still to be read, and that
    each program runs once for each microbatch. An error names the actions that
    wait for each other, or the two that use one slot at once. The module is
    not changed.

    Example: `smp-opt scheduled.mlir --smp-verify-schedule -o /dev/null`
  }];
  let dependentDialects = ["::smp::SmpDialect"];
}

#endif // SMP_SCHEDULE_PASSES_TD
