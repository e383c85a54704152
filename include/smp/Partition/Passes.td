//===- Passes.td - Passes that cut a model into chunks -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_PARTITION_PASSES_TD
#define SMP_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionPass : Pass<"smp-partition", "::mlir::ModuleOp"> {
  let summary = "gives every op of the model its chunk";
  let description = [{
    Cuts the ops of `@train`, in their order, into as many stages as there are
    partitions, so that the most expensive stage is as cheap as it can be: its
    cost is `memory_weight` times its share of the memory plus
    `1 - memory_weight` times its share of the time. Every op gets the attribute
    `smp.chunk`; the module gets `smp.pp`, the number of pp ranks, and
    `smp.chunks`, the pp rank of each chunk. Each cut is explained by a remark.

    Example, shortened:

    ```mlir
    %1 = smp.linear %0, %w : tensor<2x3xf32>, tensor<4x3xf32>
    // becomes
    %1 = smp.linear %0, %w {smp.chunk = 0 : i64} : tensor<2x3xf32>, tensor<4x3xf32>
    ```
  }];
  let options = [
    Option<"partitions", "partitions", "int64_t", "1", "Number of stages">,
    Option<"memoryWeight", "memory-weight", "double", "0.8",
           "Weight of memory against time, from 0 to 1">,
    Option<"microbatches", "microbatches", "int64_t", "1",
           "Microbatches of a step, for the number in flight on each stage">];
  let dependentDialects = ["::smp::SmpDialect", "::mlir::func::FuncDialect"];
}

def StagePass : Pass<"smp-stage", "::mlir::ModuleOp"> {
  let summary = "makes each chunk a closed function";
  let description = [{
    Replaces `@train` and `@eval` by one forward function for each chunk. What a
    function uses is an argument and what later chunks use is a result; a value
    that skips chunks is relayed by them. Integer and constant sub-graphs that
    read no parameter are cloned into the chunks that use them.

    From the same graph come the programs `evaluate` (dropout off; rows of
    weight 0 do not count; sums of the loss and its count), `predict` (the
    outputs, without labels) and `count` (what mean-type losses divide by).

    Example, shortened:

    ```mlir
    smp.chunk @chunk0 0 on 0 forward @chunk0_forward evaluate @chunk0_evaluate
    func.func @chunk0_forward(%x: tensor<2x3xf32> {smp.binding = #smp.binding<input, "x">})
        -> (tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">})
    ```
  }];
  let dependentDialects = ["::smp::SmpDialect", "::mlir::func::FuncDialect"];
}

#endif // SMP_PARTITION_PASSES_TD
