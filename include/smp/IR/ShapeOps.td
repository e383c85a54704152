//===- ShapeOps.td - Sizes, constants, and moves of elements -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SHAPEOPS_TD
#define SMP_IR_SHAPEOPS_TD

include "smp/IR/SmpAttrs.td"

/// An op whose result has dynamic dims that no operand determines.
class Smp_SizedOp<string mnemonic, dag args, list<Trait> traits = []>
    : Smp_ModelOp<mnemonic, !con(args, (ins Variadic<Index>:$sizes)),
                  !listconcat([DeclareOpInterfaceMethods<Smp_SizedOpInterface>], traits)>;

def Smp_DimOp : Smp_Op<"dim", [Pure]> {
  let summary = "size of a dim";
  let description = [{
    The size of a dim of a tensor. Made by `import`; `specialize`, which
    makes all shapes static, folds every one.

    **Constraints**
    - dim_c1: `dim` is a dim of the operand.

    **Example**
    ```mlir
    // given %x: tensor<?x16xi64>
    %n = smp.dim %x, 0 : tensor<?x16xi64>
    ```
  }];
  let arguments = (ins Smp_Tensor:$operand, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$operand `,` $dim attr-dict `:` type($operand)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Smp_ConstantOp : Smp_ModelOp<"constant", (ins ElementsAttr:$value),
    [ConstantLike, AllTypesMatch<["value", "result"]>,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "tensor of known elements";
  let description = [{
    A tensor whose elements are known when compiling. Made by `import`;
    `lower` gives it to the clusters and commands that read it, and `emit`
    writes it to the constants of the job.

    **Constraints**
    - constant_c1: the elements are dense.
    - constant_c2: value and result have the same type.

    **Example**
    ```mlir
    %r = smp.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Smp_FillOp : Smp_SizedOp<"fill", (ins F64Attr:$value),
    [DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "tensor of one value, kept in full precision until it is used";
  let description = [{
    A tensor all of whose elements are one number, which stays a double
    until it is used. Made by `import` and `differentiate`; `lower` puts it
    into a cluster, whose kernel `emit` builds.

    **Constraints**
    - fill_c1: there is one size for each dynamic dim of the result.
    - fill_c2: a result of integers gets a number that its element type
      holds.

    **Example**
    ```mlir
    // given %n: index
    %r = smp.fill 0.1 [%n] : tensor<?x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$value (`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Smp_IotaOp : Smp_SizedOp<"iota", (ins I64Attr:$dim),
    [DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "position along a dim";
  let description = [{
    Each element is its own position along `dim`, from 0. Made by `import`;
    `lower` puts it into a cluster, whose kernel `emit` builds.

    **Constraints**
    - iota_c1: `dim` is a dim of the result.
    - iota_c2: there is one size for each dynamic dim of the result.

    **Example**
    ```mlir
    // given %n: index
    %r = smp.iota 1 [%n] : tensor<?x3xi64>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$dim (`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Smp_ExpandOp : Smp_SizedOp<"expand", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$dims),
    [Smp_HasShardingRule, DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface, ["buildGradient", "getSavedValues"]>,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "repetition along new dims and dims of size one";
  let description = [{
    The operand repeated along result dims that it lacks or has with size 1:
    operand dim `i` is result dim `dims[i]`. Made by `import` and
    `differentiate`; `lower` clones it into each cluster that reads it, or
    folds it into a product.

    **Constraints**
    - expand_c1: `dims` has an entry for each operand dim.
    - expand_c2: `dims` are dims of the result in ascending order.
    - expand_c3: each operand dim has size 1 or that of its result dim.
    - expand_c4: operand and result have the same element type.
    - expand_c5: there is one size for each dynamic dim of the result.

    **Example**
    ```mlir
    // given %b: tensor<3xf32>
    %r = smp.expand %b [1] : tensor<3xf32> -> tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $dims (`[` $sizes^ `]`)? attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Smp_ReshapeOp : Smp_SizedOp<"reshape", (ins Smp_Tensor:$operand),
    [Smp_HasShardingRule, DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface, ["buildGradient", "getSavedValues"]>,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    The operand's elements in row-major order under another shape. Made by
    `import` and `differentiate`; `lower` clones it into clusters, and where
    something else than a kernel reads it `emit` makes it a name for the
    same memory.

    **Constraints**
    - reshape_c1: operand and result have the same element type.
    - reshape_c2: operand and result have as many elements.
    - reshape_c3: there is one size for each dynamic dim of the result.

    **Example**
    ```mlir
    // given %x: tensor<2x3x4xf32>
    %r = smp.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand (`[` $sizes^ `]`)? attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Smp_TransposeOp : Smp_DifferentiableOp<"transpose", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$permutation),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "permutation of dims: result dim `i` is operand dim `permutation[i]`";
  let description = [{
    The operand with its dims in another order: result dim `i` is operand
    dim `permutation[i]`. Made by `import` and `differentiate`; `lower`
    clones it into each cluster that reads it, or folds it into a product.

    **Constraints**
    - transpose_c1: `permutation` names each operand dim once.

    **Example**
    ```mlir
    // given %x: tensor<2x3x4xf32>
    %r = smp.transpose %x [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Smp_SliceOp : Smp_DifferentiableOp<"slice",
    (ins Smp_Tensor:$operand, I64Attr:$dim, I64Attr:$start, I64Attr:$stop, DefaultValuedAttr<I64Attr, "1">:$step),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "every `step`-th place from `start` to before `stop` along a static dim";
  let description = [{
    Every `step`-th place of a dim, from `start` to before `stop`. Made by
    `import` and `differentiate`; `lower` clones it into each cluster that
    reads it.

    **Constraints**
    - slice_c1: `dim` is a dim of the operand, of static size.
    - slice_c2: `start` and `stop` are ascending places of the dim, or its
      end.
    - slice_c3: `step` is positive.

    **Example**
    ```mlir
    // given %x: tensor<2x8xf32>
    %r = smp.slice %x, 1 [1 : 8 : 2] : tensor<2x8xf32> -> tensor<2x4xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $dim `[` $start `:` $stop (`:` $step^)? `]` attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Smp_PadOp : Smp_DifferentiableOp<"pad",
    (ins Smp_Tensor:$operand, I64Attr:$dim, I64Attr:$low, I64Attr:$high,
         DefaultValuedAttr<I64Attr, "0">:$interior, F64Attr:$value),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "the operand with `value` before, after and between its places along a static dim";
  let description = [{
    The operand with `low` places of `value` before it, `high` after it and
    `interior` between its own along a dim. Made by `import` and
    `differentiate`; `lower` clones it into each cluster that reads it.

    **Constraints**
    - pad_c1: `dim` is a dim of the operand, of static size.
    - pad_c2: no padding is negative.
    - pad_c3: integers are padded by a number that their type holds.

    **Example**
    ```mlir
    // given %x: tensor<2x3xf32>
    %r = smp.pad %x, 1 low 1 high 2 with 0.0 : tensor<2x3xf32> -> tensor<2x6xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $dim `low` $low `high` $high (`interior` $interior^)? `with` $value attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Smp_ConcatOp : Smp_DifferentiableOp<"concat", (ins Variadic<Smp_Tensor>:$operands, I64Attr:$dim),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "operands one after the other along a dim";
  let description = [{
    The operands one after the other along `dim`. Made by `import` and
    `differentiate`; `lower` clones it into each cluster that reads it.

    **Constraints**
    - concat_c1: there is an operand.
    - concat_c2: `dim` is a dim of the operands.
    - concat_c3: the operands have the same element type and differ only in
      the size of `dim`.

    **Example**
    ```mlir
    // given %a: tensor<2x3xf32>, %b: tensor<2x1xf32>
    %r = smp.concat %a, %b dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operands `dim` $dim attr-dict `:` functional-type($operands, $result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // SMP_IR_SHAPEOPS_TD
