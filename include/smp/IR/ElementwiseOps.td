//===- ElementwiseOps.td - One result element from equal places of the operands -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_ELEMENTWISEOPS_TD
#define SMP_IR_ELEMENTWISEOPS_TD

include "smp/IR/SmpAttrs.td"

class Smp_UnaryOp<string mnemonic, Type type, list<Trait> traits = []>
    : Smp_DifferentiableOp<mnemonic, (ins type:$operand),
                           !listconcat([SameOperandsAndResultType, Elementwise], traits)> {
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class Smp_BinaryOp<string mnemonic, Type type, list<Trait> traits = []>
    : Smp_DifferentiableOp<mnemonic, (ins type:$lhs, type:$rhs),
                           !listconcat([SameOperandsAndResultType, Elementwise], traits)> {
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def Smp_NegOp : Smp_UnaryOp<"neg", Smp_Tensor> { let summary = "negation"; }
def Smp_AbsOp : Smp_UnaryOp<"abs", Smp_Tensor> { let summary = "absolute value"; }
def Smp_ExpOp : Smp_UnaryOp<"exp", Smp_FloatTensor> { let summary = "exponential"; }
def Smp_LogOp : Smp_UnaryOp<"log", Smp_FloatTensor> { let summary = "natural logarithm"; }
def Smp_SqrtOp : Smp_UnaryOp<"sqrt", Smp_FloatTensor> { let summary = "square root"; }
def Smp_RsqrtOp : Smp_UnaryOp<"rsqrt", Smp_FloatTensor> { let summary = "reciprocal square root"; }
def Smp_SinOp : Smp_UnaryOp<"sin", Smp_FloatTensor> { let summary = "sine"; }
def Smp_CosOp : Smp_UnaryOp<"cos", Smp_FloatTensor> { let summary = "cosine"; }
def Smp_TanhOp : Smp_UnaryOp<"tanh", Smp_FloatTensor> { let summary = "hyperbolic tangent"; }
def Smp_SigmoidOp : Smp_UnaryOp<"sigmoid", Smp_FloatTensor> { let summary = "logistic function"; }
def Smp_ReluOp : Smp_UnaryOp<"relu", Smp_FloatTensor> { let summary = "maximum of operand and zero"; }
def Smp_SiluOp : Smp_UnaryOp<"silu", Smp_FloatTensor> { let summary = "operand times its logistic function"; }

def Smp_GeluOp : Smp_DifferentiableOp<"gelu", (ins Smp_FloatTensor:$operand,
    DefaultValuedAttr<Smp_GeluApproximationAttr, "GeluApproximation::None">:$approximate),
    [SameOperandsAndResultType, Elementwise]> {
  let summary = "Gaussian error linear unit";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand (`form` $approximate^)? attr-dict `:` type($result)";
}

def Smp_GeluGradOp : Smp_ModelOp<"gelu_grad", (ins Smp_FloatTensor:$operand, Smp_FloatTensor:$cotangent,
    DefaultValuedAttr<Smp_GeluApproximationAttr, "GeluApproximation::None">:$approximate),
    [SameOperandsAndResultType, Elementwise]> {
  let summary = "gradient of gelu";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cotangent (`form` $approximate^)? attr-dict `:` type($result)";
}

def Smp_SiluGradOp : Smp_ModelOp<"silu_grad", (ins Smp_FloatTensor:$operand, Smp_FloatTensor:$cotangent),
    [SameOperandsAndResultType, Elementwise]> {
  let summary = "gradient of silu";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cotangent attr-dict `:` type($result)";
}

def Smp_NotOp : Smp_ModelOp<"not", (ins Smp_BoolTensor:$operand), [SameOperandsAndResultType, Elementwise]> {
  let summary = "logical complement";
  let results = (outs Smp_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Smp_CastOp : Smp_DifferentiableOp<"cast", (ins Smp_Tensor:$operand), [SameOperandsAndResultShape, Elementwise]> {
  let summary = "change of element type";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def Smp_StopGradientOp : Smp_ModelOp<"stop_gradient", (ins Smp_Tensor:$operand),
    [SameOperandsAndResultType, Elementwise,
     DeclareOpInterfaceMethods<Smp_DifferentiableOpInterface, ["buildGradient", "getSavedValues", "stopsGradient"]>]> {
  let summary = "the operand, but no gradient flows to it";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Binary and ternary
//===----------------------------------------------------------------------===//

def Smp_AddOp : Smp_BinaryOp<"add", Smp_Tensor, [Commutative]> { let summary = "sum of two tensors"; }
def Smp_SubOp : Smp_BinaryOp<"sub", Smp_Tensor> { let summary = "difference of two tensors"; }
def Smp_MulOp : Smp_BinaryOp<"mul", Smp_Tensor, [Commutative]> { let summary = "elementwise product of two tensors"; }
def Smp_DivOp : Smp_BinaryOp<"div", Smp_FloatTensor> { let summary = "quotient of two tensors"; }
def Smp_PowOp : Smp_BinaryOp<"pow", Smp_FloatTensor> { let summary = "left operand to the power of the right"; }
def Smp_MaximumOp : Smp_BinaryOp<"maximum", Smp_Tensor, [Commutative]> { let summary = "larger of two elements"; }
def Smp_MinimumOp : Smp_BinaryOp<"minimum", Smp_Tensor, [Commutative]> { let summary = "smaller of two elements"; }

class Smp_LogicalOp<string mnemonic> : Smp_ModelOp<mnemonic, (ins Smp_BoolTensor:$lhs, Smp_BoolTensor:$rhs),
    [SameOperandsAndResultType, Elementwise, Commutative]> {
  let results = (outs Smp_BoolTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
def Smp_AndOp : Smp_LogicalOp<"and"> { let summary = "logical conjunction"; }
def Smp_OrOp : Smp_LogicalOp<"or"> { let summary = "logical disjunction"; }

def Smp_CompareOp : Smp_ModelOp<"compare",
    (ins Smp_ComparePredicateAttr:$predicate, Smp_Tensor:$lhs, Smp_Tensor:$rhs),
    [SameOperandsAndResultShape, SameTypeOperands, Elementwise,
     InferTypeOpAdaptor]> {
  let summary = "comparison of two tensors";
  let results = (outs Smp_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Smp_SelectOp : Smp_DifferentiableOp<"select",
    (ins Smp_BoolTensor:$condition, Smp_Tensor:$on_true, Smp_Tensor:$on_false),
    [SameOperandsAndResultShape, Elementwise, AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "one of two elements, by a condition";
  let results = (outs Smp_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
}

#endif // SMP_IR_ELEMENTWISEOPS_TD
