//===- ReductionOps.td - Sums, maxima and running sums along dims -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_REDUCTIONOPS_TD
#define SMP_IR_REDUCTIONOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_ReduceSumOp : Smp_DifferentiableOp<"reduce_sum", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$dims),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "sum over dims, which the result no longer has";
  let description = [{
    The sum over some dims, which the result no longer has. Made by `import`
    and `differentiate`; `lower` gives it a cluster with the elementwise ops
    that feed it, and `emit` builds the kernel.

    **Constraints**
    - reduce_sum_c1: `dims` are dims of the operand in ascending order.

    **Example**
    ```mlir
    // given %x: tensor<2x3x4xf32>
    %r = smp.reduce_sum %x [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $dims attr-dict `:` type($operand) `->` type($result)";
}

def Smp_ReduceMaxOp : Smp_DifferentiableOp<"reduce_max", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$dims),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "maximum over dims, which the result no longer has";
  let description = [{
    The largest element over some dims, which the result no longer has. Made
    by `import`; `lower` gives it a cluster with the elementwise ops that
    feed it, and `emit` builds the kernel.

    **Constraints**
    - reduce_max_c1: `dims` are dims of the operand in ascending order.
    - reduce_max_c2: none of them is empty.

    **Example**
    ```mlir
    // given %x: tensor<2x3x4xf32>
    %r = smp.reduce_max %x [2] : tensor<2x3x4xf32> -> tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $dims attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Smp_CumsumOp : Smp_DifferentiableOp<"cumsum", (ins Smp_Tensor:$operand, I64Attr:$dim, UnitAttr:$reverse),
    [Smp_HasShardingRule, SameOperandsAndResultType]> {
  let summary = "sum of the places up to and including each along a dim (with `reverse`: from each on)";
  let description = [{
    At each place the sum of the places up to and including it along `dim`,
    or from it on with `reverse`. Made by `import` and `differentiate`;
    `specialize` folds it where it counts positions, and `lower` gives it a
    cluster, whose kernel `emit` builds.

    **Constraints**
    - cumsum_c1: `dim` is a dim of the operand.
    - cumsum_c2: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x8xi64>
    %r = smp.cumsum %x, 1 reverse : tensor<2x8xi64>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $dim (`reverse` $reverse^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

#endif // SMP_IR_REDUCTIONOPS_TD
