//===- AttentionOps.td - Attention and what belongs to it -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_ATTENTIONOPS_TD
#define SMP_IR_ATTENTIONOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_AttentionOp : Smp_DifferentiableOp<"attention",
    (ins Smp_FloatTensor:$query, Smp_FloatTensor:$key, Smp_FloatTensor:$value, Optional<Smp_Tensor>:$bias,
         Smp_MaskAttr:$mask, F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "scaled dot-product attention, with grouped queries; also gives the log-sum-exp of each row of scores";
  let description = [{
    For each query the mean of the values, weighted by the softmax of its
    scaled products with the keys that the mask lets it see; also the
    log-sum-exp of each row of scores. Made by `import`, also from its
    pieces; `lower` takes it apart into products and
    `smp.attention_softmax`.

    Query is [B, H, S, D], key [B, G, T, D], value [B, G, T, E]: H / G
    consecutive query heads share a key head. A bias of floating numbers is
    added to the scores; one of i1 says which keys are seen. Dropout acts on
    the weights.

    **Constraints**
    - attention_c1: query, key and value have rank 4.
    - attention_c2: query and key have the same batch and head size.
    - attention_c3: key and value differ only in the last dim.
    - attention_c4: the number of key heads divides that of query heads.
    - attention_c5: the bias broadcasts to [B, H, S, T].
    - attention_c6: the dropout probability is at least 0 and less than 1.
    - attention_c7: query, key and value have the same element type.
    - attention_c8: the scale is finite.

    **Example**
    ```mlir
    // given %q: tensor<2x4x8x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x16xf32>
    %r, %lse = smp.attention %q, %k, %v <causal> scale 0.25
        : tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$lse);
  let assemblyFormat = "$query `,` $key `,` $value (`bias` $bias^ `:` type($bias))? $mask `scale` $scale (`dropout` $dropout^ `site` $site)? attr-dict `:` type($query) `,` type($key) `,` type($value)";
  let hasVerifier = 1;
}

def Smp_AttentionGradOp : Smp_ModelOp<"attention_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$query, Smp_FloatTensor:$key, Smp_FloatTensor:$value,
         Smp_FloatTensor:$output, Smp_FloatTensor:$lse, Optional<Smp_Tensor>:$bias,
         Smp_MaskAttr:$mask, F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site,
         UnitAttr:$bias_gradient),
    [AllTypesMatch<["cotangent", "output"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradients of attention's query, key and value, and of its bias";
  let description = [{
    The gradients of `smp.attention`'s query, key and value, from its
    results; with `bias_gradient` also the bias's, summed over the dims that
    it broadcasts along. Made by `differentiate`; `lower` takes it apart into
    products and `smp.attention_softmax_grad`.

    **Constraints**
    - attention_grad_c1: query, key and value have rank 4.
    - attention_grad_c2: query and key have the same batch and head size.
    - attention_grad_c3: key and value differ only in the last dim.
    - attention_grad_c4: the number of key heads divides that of query
      heads.
    - attention_grad_c5: the bias broadcasts to [B, H, S, T].
    - attention_grad_c6: the dropout probability is at least 0 and less than
      1.
    - attention_grad_c7: the output has shape [B, H, S, E].
    - attention_grad_c8: the log-sum-exps have shape [B, H, S].
    - attention_grad_c9: query, key, value and output have the same element
      type.
    - attention_grad_c10: the scale is finite.
    - attention_grad_c11: cotangent and output have the same type.
    - attention_grad_c12: `bias_gradient` asks for that of a bias of floating
      numbers.

    **Example**
    ```mlir
    // given %c: tensor<1x2x8x4xf32>, %q: tensor<1x2x8x4xf32>, %k: tensor<1x2x8x4xf32>, %v: tensor<1x2x8x4xf32>, %r: tensor<1x2x8x4xf32>, %lse: tensor<1x2x8xf32>
    %dq, %dk, %dv = smp.attention_grad %c, %q, %k, %v, %r, %lse <causal> scale 0.5
        : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$query_grad, Smp_FloatTensor:$key_grad, Smp_FloatTensor:$value_grad,
                      Optional<Smp_FloatTensor>:$bias_grad);
  let assemblyFormat = "$cotangent `,` $query `,` $key `,` $value `,` $output `,` $lse (`bias` $bias^ `:` type($bias))? (`bias_gradient` $bias_gradient^)? $mask `scale` $scale (`dropout` $dropout^ `site` $site)? attr-dict `:` type($query) `,` type($key) `,` type($value) `,` type($output) `,` type($lse)";
  let hasVerifier = 1;
}

def Smp_RotaryEmbeddingOp : Smp_DifferentiableOp<"rotary_embedding",
    (ins Smp_FloatTensor:$operand, Smp_FloatTensor:$cosine, Smp_FloatTensor:$sine),
    [Smp_HasShardingRule, AllTypesMatch<["operand", "result"]>, AllTypesMatch<["cosine", "sine"]>]> {
  let summary = "rotation of the pairs (i, i + D/2) of the last dim by the angle of each position";
  let description = [{
    The operand [..., S, D] with each pair (i, i + D/2) of its last dim
    rotated by the angle of its position, whose cosine and sine are given as
    [S, D/2]. Made by `import`, which recognises it in its pieces, and by
    `differentiate`; `lower` puts it into a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - rotary_embedding_c1: the operand has rank 2 or more and a last dim of
      even size.
    - rotary_embedding_c2: cosine and sine have shape [S, D/2].
    - rotary_embedding_c3: operand and result have the same type.
    - rotary_embedding_c4: cosine and sine have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x4x8x16xf32>, %c: tensor<8x8xf32>, %s: tensor<8x8xf32>
    %r = smp.rotary_embedding %x, %c, %s : tensor<2x4x8x16xf32>, tensor<8x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cosine `,` $sine attr-dict `:` type($operand) `,` type($cosine)";
  let hasVerifier = 1;
}

#endif // SMP_IR_ATTENTIONOPS_TD
