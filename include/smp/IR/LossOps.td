//===- LossOps.td - Losses: a sum and the count to divide it by -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_LOSSOPS_TD
#define SMP_IR_LOSSOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_CrossEntropyOp : Smp_DifferentiableOp<"cross_entropy",
    (ins Smp_FloatTensor:$logits, Smp_IndexTensor:$labels, DefaultValuedAttr<I64Attr, "-100">:$ignore_index),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "sum over rows of log-sum-exp less the label's logit; the number of rows with a label; the log-sum-exps";
  let description = [{
    The sum over the rows with a label of the log-sum-exp of the logits less
    the label's logit; also the number of these rows, and the log-sum-exps.
    Made by `import`; `lower` takes it apart into `smp.cross_entropy_rows`,
    a sum and a count.

    **Constraints**
    - cross_entropy_c1: the logits have rank 2.
    - cross_entropy_c2: there is a label for each row of the logits.

    **Example**
    ```mlir
    // given %x: tensor<8x32xf32>, %y: tensor<8xi64>
    %sum, %count, %lse = smp.cross_entropy %x, %y ignore -100 : tensor<8x32xf32>, tensor<8xi64>
    ```
  }];
  let results = (outs Smp_FloatTensor:$sum, Smp_Count:$count, Smp_FloatTensor:$lse);
  let assemblyFormat = "$logits `,` $labels `ignore` $ignore_index attr-dict `:` type($logits) `,` type($labels)";
  let hasVerifier = 1;
}

def Smp_CrossEntropyGradOp : Smp_ModelOp<"cross_entropy_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$logits, Smp_IndexTensor:$labels, Smp_FloatTensor:$lse,
         DefaultValuedAttr<I64Attr, "-100">:$ignore_index),
    [AllTypesMatch<["logits", "result"]>]> {
  let summary = "gradient of cross_entropy's logits: (softmax - one-hot) times the cotangent of the sum";
  let description = [{
    The gradient of `smp.cross_entropy`'s logits: softmax less one-hot of
    the label, times the cotangent of the sum; zero in rows without a label.
    Made by `differentiate`; `lower` puts it into a cluster, whose kernel
    `emit` builds.

    **Constraints**
    - cross_entropy_grad_c1: the logits have rank 2.
    - cross_entropy_grad_c2: there is a label for each row of the logits.
    - cross_entropy_grad_c3: there is a log-sum-exp for each row of the
      logits.
    - cross_entropy_grad_c4: the cotangent is a scalar.
    - cross_entropy_grad_c5: logits and result have the same type.

    **Example**
    ```mlir
    // given %c: tensor<f32>, %x: tensor<8x32xf32>, %y: tensor<8xi64>, %lse: tensor<8xf32>
    %r = smp.cross_entropy_grad %c, %x, %y, %lse ignore -100
        : tensor<8x32xf32>, tensor<8xi64>, tensor<8xf32>, tensor<f32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $logits `,` $labels `,` $lse `ignore` $ignore_index attr-dict `:` type($logits) `,` type($labels) `,` type($lse) `,` type($cotangent)";
  let hasVerifier = 1;
}

def Smp_LabelCountOp : Smp_ModelOp<"label_count", (ins Smp_IndexTensor:$labels, DefaultValuedAttr<I64Attr, "-100">:$ignore_index),
    [Smp_HasShardingRule]> {
  let summary = "the number of labels that are not ignored";
  let description = [{
    The number of labels that are not to be ignored. Made by `import`, by
    `stage` for the programs `count` and by `lower`; `lower` gives it a
    cluster, whose kernel `emit` builds.

    **Example**
    ```mlir
    // given %y: tensor<8xi64>
    %r = smp.label_count %y ignore -100 : tensor<8xi64>
    ```
  }];
  let results = (outs Smp_Count:$result);
  let assemblyFormat = "$labels `ignore` $ignore_index attr-dict `:` type($labels)";
}

def Smp_MeanLossOp : Smp_DifferentiableOp<"mean_loss",
    (ins Smp_FloatTensor:$sum, Smp_Count:$count, StrAttr:$term),
    [AllTypesMatch<["sum", "result"]>]> {
  let summary = "sum by count, zero where the count is zero: a mean-type term of the loss";
  let description = [{
    A sum of losses divided by their number, or zero where there is none: a
    mean-type term of the loss, named `term`. Made by `import`;
    `differentiate` replaces the count by that of the whole step, and
    `lower` puts it into a cluster, whose kernel `emit` builds.

    **Constraints**
    - mean_loss_c1: the sum is a scalar.
    - mean_loss_c2: the term has a name.
    - mean_loss_c3: sum and result have the same type.

    **Example**
    ```mlir
    // given %s: tensor<f32>, %n: tensor<i64>
    %r = smp.mean_loss "loss" %s by %n : tensor<f32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$term $sum `by` $count attr-dict `:` type($sum)";
  let hasVerifier = 1;
}

#endif // SMP_IR_LOSSOPS_TD
