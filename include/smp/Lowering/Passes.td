//===- Passes.td - Passes of lowering ------------------------*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LOWERING_PASSES_TD
#define SMP_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"smp-decompose", "::mlir::func::FuncOp"> {
  let summary = "takes composites apart into products and rows";
  let description = [{
    Attention becomes products and a softmax of rows of scores, linear ops and
    batched products become `smp.product`, the gradients of norm weights become
    sums over rows. A product whose result is added to a gradient argument
    starts from it.

    Example:

    ```mlir
    %g = smp.linear_weight_grad %c, %x : tensor<8x4xf32>, tensor<8x3xf32>
    %r = smp.add %acc, %g : tensor<4x3xf32>
    // becomes, where %acc is a gradient argument of the program
    %r = smp.product %c, %x into %acc : tensor<4x3xf32> transposed true, false batch 1, 1, 1 sizes 4, 3, 8 : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    ```
  }];
  let dependentDialects = ["::smp::SmpDialect"];
}

def ClusterPass : Pass<"smp-cluster", "::mlir::func::FuncOp"> {
  let summary = "groups ops into the kernels that compute them";
  let description = [{
    Elementwise ops over one iteration space become one `smp.cluster`; moves of
    elements (expand, transpose, slice and the like) are cloned into each cluster
    that reads them; ops with loops of their own have a cluster each. Reshapes
    that something else than a kernel reads stay: they are the same memory.

    Example:

    ```mlir
    %b = smp.expand %bias [1] : tensor<4xf32> -> tensor<8x4xf32>
    %s = smp.add %x, %b : tensor<8x4xf32>
    // becomes
    %s = smp.cluster(%x, %bias) in_place [-1] {
    ^bb0(%a0: tensor<8x4xf32>, %a1: tensor<4xf32>):
      %b = smp.expand %a1 [1] : tensor<4xf32> -> tensor<8x4xf32>
      %r = smp.add %a0, %b : tensor<8x4xf32>
      smp.yield %r : tensor<8x4xf32>
    } : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::smp::SmpDialect"];
}

#endif // SMP_LOWERING_PASSES_TD
