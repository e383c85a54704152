//===- NormOps.td - Normalisations along the last dim -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_NORMOPS_TD
#define SMP_IR_NORMOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_LayerNormOp : Smp_DifferentiableOp<"layer_norm",
    (ins Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, Optional<Smp_FloatTensor>:$bias, F64Attr:$epsilon),
    [AttrSizedOperandSegments, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "layer normalisation over the last dim; also gives mean and reciprocal deviation of each row";
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$mean, Smp_FloatTensor:$rstd);
  let assemblyFormat = "$operand (`weight` $weight^ `:` type($weight))? (`bias` $bias^ `:` type($bias))? `epsilon` $epsilon attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Smp_LayerNormGradOp : Smp_ModelOp<"layer_norm_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight,
         Smp_FloatTensor:$mean, Smp_FloatTensor:$rstd),
    [AllTypesMatch<["mean", "rstd"]>, AllTypesMatch<["cotangent", "operand"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradients of layer_norm's operand, weight and bias";
  let results = (outs Smp_FloatTensor:$operand_grad, Smp_FloatTensor:$weight_grad, Smp_FloatTensor:$bias_grad);
  let assemblyFormat = "$cotangent `,` $operand (`weight` $weight^ `:` type($weight))? `mean` $mean `rstd` $rstd attr-dict `:` type($operand) `,` type($mean)";
  let hasVerifier = 1;
}

def Smp_RmsNormOp : Smp_DifferentiableOp<"rms_norm",
    (ins Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, F64Attr:$epsilon),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "division by the root mean square of the last dim; also gives the reciprocal of each row's";
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$rstd);
  let assemblyFormat = "$operand (`weight` $weight^ `:` type($weight))? `epsilon` $epsilon attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Smp_RmsNormGradOp : Smp_ModelOp<"rms_norm_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, Smp_FloatTensor:$rstd),
    [AllTypesMatch<["cotangent", "operand"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradients of rms_norm's operand and weight";
  let results = (outs Smp_FloatTensor:$operand_grad, Smp_FloatTensor:$weight_grad);
  let assemblyFormat = "$cotangent `,` $operand (`weight` $weight^ `:` type($weight))? `rstd` $rstd attr-dict `:` type($operand) `,` type($rstd)";
  let hasVerifier = 1;
}

def Smp_SoftmaxOp : Smp_DifferentiableOp<"softmax", (ins Smp_FloatTensor:$operand),
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "softmax over the last dim";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Smp_SoftmaxGradOp : Smp_ModelOp<"softmax_grad", (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$output),
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of softmax's operand, from softmax's result";
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $output attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // SMP_IR_NORMOPS_TD
