//===- Passes.td - Passes on layouts -------------------------*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_SHARDING_PASSES_TD
#define SMP_SHARDING_PASSES_TD

include "mlir/Pass/PassBase.td"

def DistributePass : Pass<"smp-distribute", "::mlir::ModuleOp"> {
  let summary = "turns changes of layout into collectives";
  let description = [{
    Merges reshards that follow each other and drops those that change nothing:
    over the axis `tp`, which has one position, and over `pp` when the module's
    attribute `smp.pp` says that it has one. The others become collectives over
    the axes whose placement changes; sums come before broadcasts. A collective
    keeps the cause and the source line of its reshard.

    | from | to | command |
    |---|---|---|
    | `partial` | `replicated` | `all_reduce` |
    | `owned(r)` | `replicated` | `broadcast` from the position of `r` in the group |

    Example:

    ```mlir
    %1 = smp.reshard %0 from <rdp = partial> to <> because "gradient of 'w' over the replicas" : tensor<4xf32>
    // becomes
    %1 = smp.all_reduce %0 over <rdp> because "gradient of 'w' over the replicas" : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::smp::SmpDialect"];
}

#endif // SMP_SHARDING_PASSES_TD
