//===- ElementwiseOps.td - One result element from equal places of the operands -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_ELEMENTWISEOPS_TD
#define SMP_IR_ELEMENTWISEOPS_TD

include "smp/IR/SmpAttrs.td"

/// The description of an op that is made and removed as most elementwise ops
/// are, from what differs between them.
class Smp_ElementwiseDescription<string meaning, string mnemonic, string constraint, string given, string operands> {
  string text = "    " # meaning # [{
    Made by `import` and `differentiate`; `lower` puts it into a cluster, whose
    kernel `emit` builds.

    **Constraints**
    - }] # mnemonic # "_c1: " # constraint # [{

    **Example**
    ```mlir
    // given }] # given # "\n    %r = smp." # mnemonic # " " # operands # "\n    ```\n  ";
}

class Smp_UnaryOp<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Smp_DifferentiableOp<mnemonic, (ins type:$operand),
                           !listconcat([SameOperandsAndResultType, Elementwise], traits)> {
  let description = Smp_ElementwiseDescription<meaning, mnemonic, "operand and result have the same type.",
      "%x: tensor<2x3xf32>", "%x : tensor<2x3xf32>">.text;
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Smp_BinaryOp<string mnemonic, Type type, string meaning, list<Trait> traits = []>
    : Smp_DifferentiableOp<mnemonic, (ins type:$lhs, type:$rhs),
                           !listconcat([SameOperandsAndResultType, Elementwise], traits)> {
  let description = Smp_ElementwiseDescription<meaning, mnemonic, "operands and result have the same type.",
      "%a: tensor<2x3xf32>, %b: tensor<2x3xf32>", "%a, %b : tensor<2x3xf32>">.text;
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def Smp_NegOp : Smp_UnaryOp<"neg", Smp_Tensor,
    "Each element with the other sign."> {
  let summary = "negation";
  let hasFolder = 1;
}
def Smp_AbsOp : Smp_UnaryOp<"abs", Smp_Tensor,
    "The absolute value of each element."> {
  let summary = "absolute value";
}
def Smp_ExpOp : Smp_UnaryOp<"exp", Smp_FloatTensor,
    "The exponential of each element."> {
  let summary = "exponential";
}
def Smp_LogOp : Smp_UnaryOp<"log", Smp_FloatTensor,
    "The natural logarithm of each element."> {
  let summary = "natural logarithm";
}
def Smp_SqrtOp : Smp_UnaryOp<"sqrt", Smp_FloatTensor,
    "The square root of each element."> {
  let summary = "square root";
}
def Smp_RsqrtOp : Smp_UnaryOp<"rsqrt", Smp_FloatTensor,
    "One divided by the square root of each element."> {
  let summary = "reciprocal square root";
}
def Smp_SinOp : Smp_UnaryOp<"sin", Smp_FloatTensor,
    "The sine of each element."> {
  let summary = "sine";
}
def Smp_CosOp : Smp_UnaryOp<"cos", Smp_FloatTensor,
    "The cosine of each element."> {
  let summary = "cosine";
}
def Smp_TanhOp : Smp_UnaryOp<"tanh", Smp_FloatTensor,
    "The hyperbolic tangent of each element."> {
  let summary = "hyperbolic tangent";
}
def Smp_SigmoidOp : Smp_UnaryOp<"sigmoid", Smp_FloatTensor,
    "1 / (1 + exp(-x)) for each element x."> {
  let summary = "logistic function";
}
def Smp_ReluOp : Smp_UnaryOp<"relu", Smp_FloatTensor,
    "Each element, or zero where it is negative."> {
  let summary = "maximum of operand and zero";
}
def Smp_SiluOp : Smp_UnaryOp<"silu", Smp_FloatTensor,
    "Each element x divided by 1 + exp(-x)."> {
  let summary = "operand times its logistic function";
}

def Smp_GeluOp : Smp_DifferentiableOp<"gelu", (ins Smp_FloatTensor:$operand,
    DefaultValuedAttr<Smp_GeluApproximationAttr, "GeluApproximation::None">:$approximate),
    [SameOperandsAndResultType, Elementwise]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    x times the probability that a standard normal number is below x,
    exactly (`none`) or by a formula with tanh (`tanh`). Made by `import`;
    `lower` puts it into a cluster, whose kernel `emit` builds.

    **Constraints**
    - gelu_c1: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x3xf32>
    %r = smp.gelu %x form tanh : tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand (`form` $approximate^)? attr-dict `:` type($result)";
}

def Smp_GeluGradOp : Smp_ModelOp<"gelu_grad", (ins Smp_FloatTensor:$operand, Smp_FloatTensor:$cotangent,
    DefaultValuedAttr<Smp_GeluApproximationAttr, "GeluApproximation::None">:$approximate),
    [SameOperandsAndResultType, Elementwise]> {
  let summary = "gradient of gelu";
  let description = [{
    The derivative of `smp.gelu` at the operand, times the cotangent of its
    result. Made by `differentiate`; `lower` puts it into a cluster, whose
    kernel `emit` builds.

    **Constraints**
    - gelu_grad_c1: operands and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x3xf32>, %g: tensor<2x3xf32>
    %r = smp.gelu_grad %x, %g form tanh : tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cotangent (`form` $approximate^)? attr-dict `:` type($result)";
}

def Smp_SiluGradOp : Smp_ModelOp<"silu_grad", (ins Smp_FloatTensor:$operand, Smp_FloatTensor:$cotangent),
    [SameOperandsAndResultType, Elementwise]> {
  let summary = "gradient of silu";
  let description = [{
    The derivative of `smp.silu` at the operand, times the cotangent of its
    result. Made by `differentiate`; `lower` puts it into a cluster, whose
    kernel `emit` builds.

    **Constraints**
    - silu_grad_c1: operands and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x3xf32>, %g: tensor<2x3xf32>
    %r = smp.silu_grad %x, %g : tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cotangent attr-dict `:` type($result)";
}

def Smp_NotOp : Smp_ModelOp<"not", (ins Smp_BoolTensor:$operand), [SameOperandsAndResultType, Elementwise]> {
  let summary = "logical complement";
  let description = [{
    True where the operand is false. Made by `import` and `differentiate`;
    `specialize` folds it where it belongs to a mask, and `lower` puts it
    into a cluster, whose kernel `emit` builds.

    **Constraints**
    - not_c1: operand and result have the same type.

    **Example**
    ```mlir
    // given %a: tensor<2x3xi1>
    %r = smp.not %a : tensor<2x3xi1>
    ```
  }];
  let results = (outs Smp_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Smp_CastOp : Smp_DifferentiableOp<"cast", (ins Smp_Tensor:$operand), [SameOperandsAndResultShape, Elementwise]> {
  let summary = "change of element type";
  let description = [{
    The operand's elements as another element type, floating numbers to
    integers by truncation and to i1 as `not zero`. Made by `import` and
    `differentiate`; `lower` puts it into a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - cast_c1: operand and result have the same shape.

    **Example**
    ```mlir
    // given %x: tensor<2x3xi64>
    %r = smp.cast %x : tensor<2x3xi64> -> tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Smp_StopGradientOp : Smp_ModelOp<"stop_gradient", (ins Smp_Tensor:$operand),
    [SameOperandsAndResultType, Elementwise,
     DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface, ["buildGradient", "getSavedValues", "stopsGradient"]>]> {
  let summary = "the operand, but no gradient flows to it";
  let description = [{
    The operand itself, but no gradient flows to it: PyTorch's `detach` and
    regions without gradients. Made by `import`; `differentiate` reads it,
    and `lower` puts it into a cluster, whose kernel `emit` builds.

    **Constraints**
    - stop_gradient_c1: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x3xf32>
    %r = smp.stop_gradient %x : tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Binary and ternary
//===----------------------------------------------------------------------===//

def Smp_AddOp : Smp_BinaryOp<"add", Smp_Tensor,
    "The sum of two elements.", [Commutative]> {
  let summary = "sum of two tensors";
  let hasFolder = 1;
}
def Smp_SubOp : Smp_BinaryOp<"sub", Smp_Tensor,
    "The left element less the right one."> {
  let summary = "difference of two tensors";
  let hasFolder = 1;
}
def Smp_MulOp : Smp_BinaryOp<"mul", Smp_Tensor,
    "The product of two elements.", [Commutative]> {
  let summary = "elementwise product of two tensors";
  let hasFolder = 1;
}
def Smp_DivOp : Smp_BinaryOp<"div", Smp_FloatTensor,
    "The left element divided by the right one."> {
  let summary = "quotient of two tensors";
  let hasFolder = 1;
}
def Smp_PowOp : Smp_BinaryOp<"pow", Smp_FloatTensor,
    "The left element to the power of the right one."> {
  let summary = "left operand to the power of the right";
  let hasFolder = 1;
}
def Smp_MaximumOp : Smp_BinaryOp<"maximum", Smp_Tensor,
    "The larger of two elements, or not a number where one is not.", [Commutative]> {
  let summary = "larger of two elements";
}
def Smp_MinimumOp : Smp_BinaryOp<"minimum", Smp_Tensor,
    "The smaller of two elements, or not a number where one is not.", [Commutative]> {
  let summary = "smaller of two elements";
}

class Smp_LogicalOp<string mnemonic, string meaning> : Smp_ModelOp<mnemonic, (ins Smp_BoolTensor:$lhs, Smp_BoolTensor:$rhs),
    [SameOperandsAndResultType, Elementwise, Commutative]> {
  let description = Smp_ElementwiseDescription<meaning, mnemonic, "operands and result have the same type.",
      "%a: tensor<2x3xi1>, %b: tensor<2x3xi1>", "%a, %b : tensor<2x3xi1>">.text;
  let results = (outs Smp_BoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Smp_AndOp : Smp_LogicalOp<"and", "Whether both elements are true."> {
  let summary = "logical conjunction";
  let hasFolder = 1;
}
def Smp_OrOp : Smp_LogicalOp<"or", "Whether at least one element is true."> {
  let summary = "logical disjunction";
  let hasFolder = 1;
}

def Smp_CompareOp : Smp_ModelOp<"compare",
    (ins Smp_ComparePredicateAttr:$predicate, Smp_Tensor:$lhs, Smp_Tensor:$rhs),
    [SameOperandsAndResultShape, SameTypeOperands, Elementwise,
     InferTypeOpAdaptor]> {
  let summary = "comparison of two tensors";
  let description = [{
    Whether the comparison `eq`, `ne`, `lt`, `le`, `gt` or `ge` holds
    between the elements of two tensors. Made by `import` and
    `differentiate`; `specialize` folds it where it belongs to a mask, and
    `lower` puts it into a cluster, whose kernel `emit` builds.

    **Constraints**
    - compare_c1: both operands have the same type.
    - compare_c2: operands and result have the same shape.

    **Example**
    ```mlir
    // given %a: tensor<2x3xf32>, %b: tensor<2x3xf32>
    %r = smp.compare le %a, %b : tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Smp_SelectOp : Smp_DifferentiableOp<"select",
    (ins Smp_BoolTensor:$condition, Smp_Tensor:$on_true, Smp_Tensor:$on_false),
    [SameOperandsAndResultShape, Elementwise, AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "one of two elements, by a condition";
  let description = [{
    The element of `on_true` where the condition holds, else that of
    `on_false`. Made by `import` and `differentiate`; `lower` puts it into a
    cluster, whose kernel `emit` builds.

    **Constraints**
    - select_c1: the condition, both choices and the result have the same
      shape.
    - select_c2: both choices and the result have the same type.

    **Example**
    ```mlir
    // given %c: tensor<2x3xi1>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>
    %r = smp.select %c, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>
    ```
  }];
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // SMP_IR_ELEMENTWISEOPS_TD
