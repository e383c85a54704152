//===- ProductOps.td - Matrix products -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_PRODUCTOPS_TD
#define SMP_IR_PRODUCTOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_LinearOp : Smp_DifferentiableOp<"linear",
    (ins Smp_FloatTensor:$input, Smp_FloatTensor:$weight, UnitAttr:$transposed),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "product of rows with a weight: [..., K] with [N, K], or [K, N] if `transposed`, is [..., N]";
  let description = [{
    The product of the rows of an input with a weight: [..., K] with [N, K]
    is [..., N]; the weight is stored as [K, N] if `transposed`. Made by
    `import` and `differentiate`; `lower` makes it a `smp.product`.

    **Constraints**
    - linear_c1: the input has rank 1 or more and the weight rank 2.
    - linear_c2: the last dim of the input is as long as a row of the
      weight.
    - linear_c3: input and weight have the same element type.

    **Example**
    ```mlir
    // given %x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>
    %r = smp.linear %x, %w : tensor<2x4x8xf32>, tensor<16x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight (`transposed` $transposed^)? attr-dict `:` type($input) `,` type($weight)";
  let hasVerifier = 1;
}

def Smp_LinearWeightGradOp : Smp_DifferentiableOp<"linear_weight_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$input, UnitAttr:$transposed),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of linear's weight: [..., N] with [..., K] is [N, K], or [K, N] if `transposed`";
  let description = [{
    The gradient of `smp.linear`'s weight: the sum over rows of the products
    of cotangents [..., N] with inputs [..., K], as [N, K], or [K, N] if
    `transposed`. Made by `differentiate`; `lower` makes it a `smp.product`.

    **Constraints**
    - linear_weight_grad_c1: cotangent and input differ only in the last
      dim.
    - linear_weight_grad_c2: cotangent and input have the same element type.

    **Example**
    ```mlir
    // given %c: tensor<2x4x16xf32>, %x: tensor<2x4x8xf32>
    %r = smp.linear_weight_grad %c, %x : tensor<2x4x16xf32>, tensor<2x4x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $input (`transposed` $transposed^)? attr-dict `:` type($cotangent) `,` type($input)";
  let hasVerifier = 1;
}

def Smp_BatchMatmulOp : Smp_DifferentiableOp<"batch_matmul",
    (ins Smp_FloatTensor:$lhs, Smp_FloatTensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "products of the matrices in the last two dims; equal leading dims";
  let description = [{
    The products of the matrices in the last two dims of two tensors, each
    operand transposed first where `T` says so. Made by `import` and
    `differentiate`; `lower` makes it a `smp.product`.

    **Constraints**
    - batch_matmul_c1: the operands have the same rank, 2 or more, and equal
      dims before the last two.
    - batch_matmul_c2: the inner sizes are equal.
    - batch_matmul_c3: the operands have the same element type.

    **Example**
    ```mlir
    // given %a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>
    %r = smp.batch_matmul %a, %b T : tensor<2x3x4xf32>, tensor<2x5x4xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$lhs (`T` $transpose_lhs^)? `,` $rhs (`T` $transpose_rhs^)? attr-dict `:` type($lhs) `,` type($rhs)";
  let hasVerifier = 1;
}

#endif // SMP_IR_PRODUCTOPS_TD
