//===- IndexOps.td - Elements chosen by integer tensors -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_INDEXOPS_TD
#define SMP_IR_INDEXOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_EmbeddingOp : Smp_DifferentiableOp<"embedding", (ins Smp_FloatTensor:$table, Smp_IndexTensor:$indices),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "rows of a table: [V, C] at [...] is [..., C]";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` type($table) `,` type($indices)";
}

def Smp_EmbeddingGradOp : Smp_ModelOp<"embedding_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_IndexTensor:$indices, I64Attr:$rows),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of embedding's table: each row the sum of its cotangents in ascending order of place";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $indices `rows` $rows attr-dict `:` type($cotangent) `,` type($indices)";
}

def Smp_GatherOp : Smp_DifferentiableOp<"gather", (ins Smp_Tensor:$operand, Smp_IndexTensor:$indices, I64Attr:$dim),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "for each place the element of that place with the index in the given dim";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices `,` $dim attr-dict `:` type($operand) `,` type($indices)";
  let hasVerifier = 1;
}

def Smp_GatherGradOp : Smp_ModelOp<"gather_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_IndexTensor:$indices, I64Attr:$dim, I64Attr:$extent),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of gather's operand, whose size in `dim` is `extent`";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $indices `,` $dim `extent` $extent attr-dict `:` type($cotangent) `,` type($indices)";
  let hasVerifier = 1;
}

def Smp_IndexOp : Smp_ModelOp<"index", (ins Smp_Tensor:$operand, Variadic<Smp_IndexTensor>:$indices),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "the operand's slices at the coordinates that index tensors of one shape give for its first dims";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `[` $indices `]` attr-dict `:` type($operand) `,` type($indices)";
  let hasVerifier = 1;
}

#endif // SMP_IR_INDEXOPS_TD
