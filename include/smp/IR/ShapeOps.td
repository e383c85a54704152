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
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Smp_FillOp : Smp_SizedOp<"fill", (ins F64Attr:$value),
    [DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "tensor of one value, kept in full precision until it is used";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$value (`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Smp_IotaOp : Smp_SizedOp<"iota", (ins I64Attr:$dim),
    [DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "position along a dim";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$dim (`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Smp_ExpandOp : Smp_SizedOp<"expand", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$dims),
    [DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface, ["buildGradient", "getSavedValues"]>,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "repetition along new dims and dims of size one";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $dims (`[` $sizes^ `]`)? attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Smp_ReshapeOp : Smp_SizedOp<"reshape", (ins Smp_Tensor:$operand),
    [DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface, ["buildGradient", "getSavedValues"]>,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops", "getBytes"]>]> {
  let summary = "the same elements in row-major order under another shape";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand (`[` $sizes^ `]`)? attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Smp_TransposeOp : Smp_DifferentiableOp<"transpose", (ins Smp_Tensor:$operand, DenseI64ArrayAttr:$permutation),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "permutation of dims: result dim `i` is operand dim `permutation[i]`";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand $permutation attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Smp_SliceOp : Smp_DifferentiableOp<"slice",
    (ins Smp_Tensor:$operand, I64Attr:$dim, I64Attr:$start, I64Attr:$stop, DefaultValuedAttr<I64Attr, "1">:$step),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "every `step`-th place from `start` to before `stop` along a static dim";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $dim `[` $start `:` $stop (`:` $step^)? `]` attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Smp_PadOp : Smp_DifferentiableOp<"pad",
    (ins Smp_Tensor:$operand, I64Attr:$dim, I64Attr:$low, I64Attr:$high,
         DefaultValuedAttr<I64Attr, "0">:$interior, F64Attr:$value),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "the operand with `value` before, after and between its places along a static dim";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand `,` $dim `low` $low `high` $high (`interior` $interior^)? `with` $value attr-dict `:` type($operand) `->` type($result)";
}

def Smp_ConcatOp : Smp_DifferentiableOp<"concat", (ins Variadic<Smp_Tensor>:$operands, I64Attr:$dim),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "operands one after the other along a dim";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operands `dim` $dim attr-dict `:` functional-type($operands, $result)";
}

#endif // SMP_IR_SHAPEOPS_TD
