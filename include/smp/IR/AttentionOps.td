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
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "scaled dot-product attention, with grouped queries; also gives the log-sum-exp of each row of scores";
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$lse);
  let assemblyFormat = "$query `,` $key `,` $value (`bias` $bias^ `:` type($bias))? $mask `scale` $scale (`dropout` $dropout^ `site` $site)? attr-dict `:` type($query) `,` type($key) `,` type($value)";
  let hasVerifier = 1;
}

def Smp_AttentionGradOp : Smp_ModelOp<"attention_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$query, Smp_FloatTensor:$key, Smp_FloatTensor:$value,
         Smp_FloatTensor:$output, Smp_FloatTensor:$lse, Optional<Smp_Tensor>:$bias,
         Smp_MaskAttr:$mask, F64Attr:$scale, DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site),
    [AllTypesMatch<["cotangent", "output"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradients of attention's query, key and value";
  let results = (outs Smp_FloatTensor:$query_grad, Smp_FloatTensor:$key_grad, Smp_FloatTensor:$value_grad);
  let assemblyFormat = "$cotangent `,` $query `,` $key `,` $value `,` $output `,` $lse (`bias` $bias^ `:` type($bias))? $mask `scale` $scale (`dropout` $dropout^ `site` $site)? attr-dict `:` type($query) `,` type($key) `,` type($value) `,` type($output) `,` type($lse)";
  let hasVerifier = 1;
}

def Smp_RotaryEmbeddingOp : Smp_DifferentiableOp<"rotary_embedding",
    (ins Smp_FloatTensor:$operand, Smp_FloatTensor:$cosine, Smp_FloatTensor:$sine),
    [AllTypesMatch<["operand", "result"]>, AllTypesMatch<["cosine", "sine"]>]> {
  let summary = "rotation of the pairs (i, i + D/2) of the last dim by the angle of each position";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cosine `,` $sine attr-dict `:` type($operand) `,` type($cosine)";
  let hasVerifier = 1;
}

#endif // SMP_IR_ATTENTIONOPS_TD
