//===- LoweredOps.td - What lowering makes of model ops -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_LOWEREDOPS_TD
#define SMP_IR_LOWEREDOPS_TD

include "smp/IR/SmpAttrs.td"

class Smp_LoweredOp<string mnemonic, list<Trait> traits = []>
    : Smp_Op<mnemonic, !listconcat([Pure], traits)>;

def Smp_ProductOp : Smp_LoweredOp<"product", [Smp_ModelOpInterface]> {
  let summary = "batch of matrix products on dense row-major matrices: a library command";
  let description = [{
    A batch of products of dense row-major matrices, as one library command:
    `result[e / sum_batch] += op(lhs[e]) * op(rhs[e / div_batch])` for each
    batch entry `e` in ascending order, where `op(lhs)` is m×k (stored k×m
    with `transpose_lhs`) and `op(rhs)` is k×n. Made by `lower`; `emit`
    makes it a product command.

    Starts from `accumulator`, whose memory the result then takes, or from
    zero.

    **Constraints**
    - product_c1: the operands and the result have static shapes with as
      many elements as `batch` and `sizes` say.
    - product_c2: `div_batch` and `sum_batch` divide the batch.
    - product_c3: the accumulator has the result's type.
    - product_c4: the operands and the result have the same element type.

    **Example**
    ```mlir
    // given %x: tensor<2x4x16xf32>, %w: tensor<4x16xf32>
    %r = smp.product %x, %w transposed false, true batch 1, 1, 1 sizes 8, 4, 16
        : tensor<2x4x16xf32>, tensor<4x16xf32> -> tensor<2x4x4xf32>
    ```
  }];
  let arguments = (ins Smp_FloatTensor:$lhs, Smp_FloatTensor:$rhs, Optional<Smp_FloatTensor>:$accumulator,
                       BoolAttr:$transpose_lhs, BoolAttr:$transpose_rhs,
                       I64Attr:$batch, I64Attr:$div_batch, I64Attr:$sum_batch,
                       I64Attr:$m, I64Attr:$n, I64Attr:$k, DefaultValuedStrAttr<StrAttr, "">:$scope);
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`into` $accumulator^ `:` type($accumulator))?
    `transposed` $transpose_lhs `,` $transpose_rhs `batch` $batch `,` $div_batch `,` $sum_batch
    `sizes` $m `,` $n `,` $k attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Smp_AttentionSoftmaxOp : Smp_LoweredOp<"attention_softmax",
    [AllTypesMatch<["scores", "result"]>, Smp_ModelOpInterface]> {
  let summary = "masked softmax of scaled scores [B, H, S, T], then dropout; also the log-sum-exp of each row";
  let description = [{
    The middle of unfused attention: the softmax of the scaled scores [B, H,
    S, T] that the mask and the bias let through, then dropout, masked
    places being zero; also the log-sum-exp of each row. Made by `lower`;
    `emit` builds a kernel that works in place.

    **Constraints**
    - attention_softmax_c1: the scores have rank 4.
    - attention_softmax_c2: the log-sum-exps have the scores' shape without
      the last dim.
    - attention_softmax_c3: the bias broadcasts to the scores.
    - attention_softmax_c4: the dropout probability is at least 0 and less
      than 1.
    - attention_softmax_c5: the scale is finite.
    - attention_softmax_c6: scores and result have the same type.

    **Example**
    ```mlir
    // given %s: tensor<2x4x8x8xf32>
    %p, %lse = smp.attention_softmax %s <causal> scale 0.25 : tensor<2x4x8x8xf32> -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Smp_FloatTensor:$scores, Optional<Smp_Tensor>:$bias, Smp_MaskAttr:$mask, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site,
                       DefaultValuedStrAttr<StrAttr, "">:$scope);
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$lse);
  let assemblyFormat = "$scores (`bias` $bias^ `:` type($bias))? $mask `scale` $scale (`dropout` $dropout^ `site` $site)? attr-dict `:` type($scores) `->` type($lse)";
  let hasVerifier = 1;
}

def Smp_AttentionSoftmaxGradOp : Smp_LoweredOp<"attention_softmax_grad",
    [AllTypesMatch<["scores", "weight_grad", "weights", "scores_grad"]>, AllTypesMatch<["output", "cotangent"]>,
     Smp_ModelOpInterface]> {
  let summary = "from scores and the gradient of the dropped-out weights: these weights again, and the gradient of the scores";
  let description = [{
    The middle of the gradient of unfused attention: from the scores and the
    gradient of the weights after dropout these weights again, and the
    gradient of the scores before scaling, or after it with `unscaled`. Made
    by `lower`; `emit` builds a kernel that works in place.

    **Constraints**
    - attention_softmax_grad_c1: the scores have rank 4.
    - attention_softmax_grad_c2: the log-sum-exps have the scores' shape
      without the last dim.
    - attention_softmax_grad_c3: the bias broadcasts to the scores.
    - attention_softmax_grad_c4: the dropout probability is at least 0 and
      less than 1.
    - attention_softmax_grad_c5: the scale is finite.
    - attention_softmax_grad_c6: the output differs from the scores only in
      the last dim.
    - attention_softmax_grad_c7: scores, weights and their gradients have the
      same type.
    - attention_softmax_grad_c8: output and cotangent have the same type.

    **Example**
    ```mlir
    // given %s: tensor<2x4x8x8xf32>, %dw: tensor<2x4x8x8xf32>, %o: tensor<2x4x8x16xf32>, %do: tensor<2x4x8x16xf32>, %lse: tensor<2x4x8xf32>
    %w, %g = smp.attention_softmax_grad %s, %dw, %o, %do, %lse <none> scale 1.0
        : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Smp_FloatTensor:$scores, Smp_FloatTensor:$weight_grad, Smp_FloatTensor:$output,
                       Smp_FloatTensor:$cotangent, Smp_FloatTensor:$lse, Optional<Smp_Tensor>:$bias,
                       Smp_MaskAttr:$mask, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site,
                       UnitAttr:$unscaled, DefaultValuedStrAttr<StrAttr, "">:$scope);
  let results = (outs Smp_FloatTensor:$weights, Smp_FloatTensor:$scores_grad);
  let assemblyFormat = "$scores `,` $weight_grad `,` $output `,` $cotangent `,` $lse (`bias` $bias^ `:` type($bias))? $mask `scale` $scale (`unscaled` $unscaled^)? (`dropout` $dropout^ `site` $site)? attr-dict `:` type($scores) `,` type($output) `,` type($lse)";
  let hasVerifier = 1;
}

def Smp_CrossEntropyRowsOp : Smp_LoweredOp<"cross_entropy_rows", [Smp_ModelOpInterface, AllTypesMatch<["losses", "lse"]>]> {
  let summary = "each row's log-sum-exp less the label's logit (zero where ignored), and the log-sum-exps";
  let description = [{
    For each row of logits the log-sum-exp less the label's logit, zero
    where the label is ignored; also the log-sum-exps. Made by `lower`;
    `emit` builds its kernel.

    **Constraints**
    - cross_entropy_rows_c1: the logits have rank 2.
    - cross_entropy_rows_c2: there is a label for each row of the logits.
    - cross_entropy_rows_c3: there is a result for each row of the logits.
    - cross_entropy_rows_c4: losses and log-sum-exps have the same type.

    **Example**
    ```mlir
    // given %x: tensor<8x32xf32>, %y: tensor<8xi64>
    %l, %lse = smp.cross_entropy_rows %x, %y ignore -100 : tensor<8x32xf32>, tensor<8xi64> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Smp_FloatTensor:$logits, Smp_IndexTensor:$labels, I64Attr:$ignore_index,
                       DefaultValuedStrAttr<StrAttr, "">:$scope);
  let results = (outs Smp_FloatTensor:$losses, Smp_FloatTensor:$lse);
  let assemblyFormat = "$logits `,` $labels `ignore` $ignore_index attr-dict `:` type($logits) `,` type($labels) `->` type($lse)";
  let hasVerifier = 1;
}

def Smp_ClusterOp : Smp_LoweredOp<"cluster", [IsolatedFromAbove, SingleBlock]> {
  let summary = "ops that one kernel computes";
  let description = [{
    Ops that one kernel computes: either elementwise ops over one iteration
    space, or one op with loops of its own and the elementwise ops that feed
    it. Made by `lower`; `emit` builds its kernel.

    `in_place` gives for each result the operand whose memory it takes, or
    -1; equal bodies share a kernel.

    **Constraints**
    - cluster_c1: the body has an argument for each operand, of its type.
    - cluster_c2: the body yields a value for each result, of its type.
    - cluster_c3: `in_place` names operands of the result's type, each once.

    **Example**
    ```mlir
    // given %a: tensor<8xf32>, %b: tensor<8xf32>
    %r = smp.cluster(%a, %b) in_place [0] {
    ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
      %s = smp.add %x, %y : tensor<8xf32>
      smp.yield %s : tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<Smp_Tensor>:$operands, DenseI64ArrayAttr:$in_place);
  let results = (outs Variadic<Smp_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $operands `)` `in_place` $in_place $body attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def Smp_YieldOp : Smp_Op<"yield", [Pure, Terminator, HasParent<"ClusterOp">]> {
  let summary = "the results of a cluster";
  let description = [{
    The results of the cluster whose body it ends. Made by `lower`; `emit`
    removes it with its cluster.

    **Constraints**
    - yield_c1: it stands in a `smp.cluster`.

    **Example**
    ```mlir
    // given %a: tensor<8xf32>
    %r = smp.cluster(%a) in_place [-1] {
    ^bb0(%x: tensor<8xf32>):
      smp.yield %x : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<Smp_Tensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // SMP_IR_LOWEREDOPS_TD
