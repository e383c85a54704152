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
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "sum over dims, which the result no longer has";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $dims attr-dict `:` type($operand) `->` type($result)";
}

def Smp_ReduceMaxOp : Smp_DifferentiableOp<"reduce_max", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$dims),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "maximum over dims, which the result no longer has";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $dims attr-dict `:` type($operand) `->` type($result)";
}

def Smp_CumsumOp : Smp_DifferentiableOp<"cumsum", (ins Smp_Tensor:$operand, I64Attr:$dim, UnitAttr:$reverse),
    [SameOperandsAndResultType]> {
  let summary = "sum of the places up to and including each along a dim (with `reverse`: from each on)";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $dim (`reverse` $reverse^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

#endif // SMP_IR_REDUCTIONOPS_TD
