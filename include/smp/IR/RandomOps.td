//===- RandomOps.td - Ops that draw random numbers -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_RANDOMOPS_TD
#define SMP_IR_RANDOMOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_DropoutOp : Smp_DifferentiableOp<"dropout",
    (ins Smp_FloatTensor:$operand, F64Attr:$probability, I64Attr:$site, DefaultValuedAttr<I64Attr, "1">:$rows_per_sample),
    [SameOperandsAndResultType]> {
  let summary = "zero with a probability, else divided by its complement";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `probability` $probability `site` $site (`rows_per_sample` $rows_per_sample^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

#endif // SMP_IR_RANDOMOPS_TD
