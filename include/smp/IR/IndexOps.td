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
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "rows of a table: [V, C] at [...] is [..., C]";
  let description = [{
    The rows of a table [V, C] that the indices [...] name, as [..., C].
    Made by `import`; `lower` gives it a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - embedding_c1: the table has rank 2.

    **Example**
    ```mlir
    // given %t: tensor<64x8xf32>, %i: tensor<2x4xi64>
    %r = smp.embedding %t, %i : tensor<64x8xf32>, tensor<2x4xi64>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` type($table) `,` type($indices)";
}

def Smp_EmbeddingGradOp : Smp_ModelOp<"embedding_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_IndexTensor:$indices, I64Attr:$rows),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of embedding's table: each row the sum of its cotangents in ascending order of place";
  let description = [{
    The gradient of `smp.embedding`'s table of `rows` rows: each row is the
    sum of its cotangents in ascending order of place. Made by
    `differentiate`; `lower` gives it a cluster, whose kernel `emit` builds.

    **Constraints**
    - embedding_grad_c1: the cotangent has the shape of the indices and one
      dim more.
    - embedding_grad_c2: `rows` is positive.

    **Example**
    ```mlir
    // given %c: tensor<2x4x8xf32>, %i: tensor<2x4xi64>
    %r = smp.embedding_grad %c, %i rows 64 : tensor<2x4x8xf32>, tensor<2x4xi64>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $indices `rows` $rows attr-dict `:` type($cotangent) `,` type($indices)";
}

def Smp_GatherOp : Smp_DifferentiableOp<"gather", (ins Smp_Tensor:$operand, Smp_IndexTensor:$indices, I64Attr:$dim),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "for each place the element of that place with the index in the given dim";
  let description = [{
    For each place of the indices the operand's element at that place, with
    the index for the coordinate of `dim`. Made by `import`; `lower` gives
    it a cluster, whose kernel `emit` builds.

    **Constraints**
    - gather_c1: `dim` is a dim of the operand.
    - gather_c2: the indices have the operand's shape but for `dim`.

    **Example**
    ```mlir
    // given %x: tensor<4x8xf32>, %i: tensor<4x1xi64>
    %r = smp.gather %x, %i, 1 : tensor<4x8xf32>, tensor<4x1xi64>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices `,` $dim attr-dict `:` type($operand) `,` type($indices)";
  let hasVerifier = 1;
}

def Smp_GatherGradOp : Smp_ModelOp<"gather_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_IndexTensor:$indices, I64Attr:$dim, I64Attr:$extent),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of gather's operand, whose size in `dim` is `extent`";
  let description = [{
    The gradient of `smp.gather`'s operand, whose size in `dim` is `extent`.
    Made by `differentiate`; `lower` gives it a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - gather_grad_c1: `dim` is a dim of the cotangent.
    - gather_grad_c2: cotangent and indices have the same shape.
    - gather_grad_c3: `extent` is positive.

    **Example**
    ```mlir
    // given %c: tensor<4x1xf32>, %i: tensor<4x1xi64>
    %r = smp.gather_grad %c, %i, 1 extent 8 : tensor<4x1xf32>, tensor<4x1xi64>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $indices `,` $dim `extent` $extent attr-dict `:` type($cotangent) `,` type($indices)";
  let hasVerifier = 1;
}

def Smp_IndexOp : Smp_ModelOp<"index", (ins Smp_Tensor:$operand, Variadic<Smp_IndexTensor>:$indices),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "the operand's slices at the coordinates that index tensors of one shape give for its first dims";
  let description = [{
    The operand's slices at coordinates of its first dims, one index tensor
    for each of these dims. Made by `import`; `specialize` folds it where it
    belongs to a mask, and `lower` gives it a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - index_c1: there is at least one index tensor, and at most one for each
      operand dim.
    - index_c2: the index tensors have the same shape.

    **Example**
    ```mlir
    // given %x: tensor<4x8x3xf32>, %i: tensor<5xi64>, %j: tensor<5xi64>
    %r = smp.index %x[%i, %j] : tensor<4x8x3xf32>, tensor<5xi64>, tensor<5xi64>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `[` $indices `]` attr-dict `:` type($operand) `,` type($indices)";
  let hasVerifier = 1;
}

#endif // SMP_IR_INDEXOPS_TD
