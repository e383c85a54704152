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
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "sum over rows of log-sum-exp less the label's logit; the number of rows with a label; the log-sum-exps";
  let results = (outs Smp_FloatTensor:$sum, Smp_Count:$count, Smp_FloatTensor:$lse);
  let assemblyFormat = "$logits `,` $labels `ignore` $ignore_index attr-dict `:` type($logits) `,` type($labels)";
  let hasVerifier = 1;
}

def Smp_CrossEntropyGradOp : Smp_ModelOp<"cross_entropy_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$logits, Smp_IndexTensor:$labels, Smp_FloatTensor:$lse,
         DefaultValuedAttr<I64Attr, "-100">:$ignore_index),
    [AllTypesMatch<["logits", "result"]>]> {
  let summary = "gradient of cross_entropy's logits: (softmax - one-hot) times the cotangent of the sum";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $logits `,` $labels `,` $lse `ignore` $ignore_index attr-dict `:` type($logits) `,` type($labels) `,` type($lse) `,` type($cotangent)";
  let hasVerifier = 1;
}

def Smp_LabelCountOp : Smp_ModelOp<"label_count", (ins Smp_IndexTensor:$labels, DefaultValuedAttr<I64Attr, "-100">:$ignore_index)> {
  let summary = "the number of labels that are not ignored";
  let results = (outs Smp_Count:$result);
  let assemblyFormat = "$labels `ignore` $ignore_index attr-dict `:` type($labels)";
}

def Smp_MeanLossOp : Smp_DifferentiableOp<"mean_loss",
    (ins Smp_FloatTensor:$sum, Smp_Count:$count, StrAttr:$term),
    [AllTypesMatch<["sum", "result"]>]> {
  let summary = "sum by count, zero where the count is zero: a mean-type term of the loss";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$term $sum `by` $count attr-dict `:` type($sum)";
  let hasVerifier = 1;
}

#endif // SMP_IR_LOSSOPS_TD
