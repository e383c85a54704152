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
    [Smp_HasShardingRule, SameOperandsAndResultType]> {
  let summary = "zero with a probability, else divided by its complement";
  let description = [{
    Zero with a probability, else the element divided by one less the
    probability; each number is drawn by its seed, step, sample, site and
    place. Made by `import` and `differentiate`; `stage` drops it from the
    programs `evaluate` and `predict`, and `lower` puts it into a cluster,
    whose kernel `emit` builds.

    `rows_per_sample` rows of dim 0 belong to one sample of the batch.

    **Constraints**
    - dropout_c1: the probability is at least 0 and less than 1.
    - dropout_c2: the operand is no scalar.
    - dropout_c3: `rows_per_sample` is positive and divides the size of dim
      0.
    - dropout_c4: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<4x8xf32>
    %r = smp.dropout %x probability 0.1 site 3 rows_per_sample 2 : tensor<4x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `probability` $probability `site` $site (`rows_per_sample` $rows_per_sample^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // SMP_IR_RANDOMOPS_TD
