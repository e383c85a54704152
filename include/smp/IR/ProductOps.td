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
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "product of rows with a weight: [..., K] with [N, K], or [K, N] if `transposed`, is [..., N]";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight (`transposed` $transposed^)? attr-dict `:` type($input) `,` type($weight)";
  let hasVerifier = 1;
}

def Smp_LinearWeightGradOp : Smp_DifferentiableOp<"linear_weight_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$input, UnitAttr:$transposed),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of linear's weight: [..., N] with [..., K] is [N, K], or [K, N] if `transposed`";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $input (`transposed` $transposed^)? attr-dict `:` type($cotangent) `,` type($input)";
}

def Smp_BatchMatmulOp : Smp_DifferentiableOp<"batch_matmul",
    (ins Smp_FloatTensor:$lhs, Smp_FloatTensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "products of the matrices in the last two dims; equal leading dims";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$lhs (`T` $transpose_lhs^)? `,` $rhs (`T` $transpose_rhs^)? attr-dict `:` type($lhs) `,` type($rhs)";
}

#endif // SMP_IR_PRODUCTOPS_TD
