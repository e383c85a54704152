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
    [Smp_HasShardingRule, AttrSizedOperandSegments, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "layer normalisation over the last dim; also gives mean and reciprocal deviation of each row";
  let description = [{
    Each row of the last dim less its mean, divided by its standard
    deviation (with `epsilon` added to the variance), times the weight plus
    the bias where given; also the mean and the reciprocal deviation of each
    row. Made by `import`; `lower` gives it a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - layer_norm_c1: the operand is no scalar.
    - layer_norm_c2: the weight is a vector as long as the operand's last
      dim.
    - layer_norm_c3: the bias is a vector as long as the operand's last dim.
    - layer_norm_c4: `epsilon` is finite and not negative.

    **Example**
    ```mlir
    // given %x: tensor<2x8xf32>, %w: tensor<8xf32>
    %r, %mean, %rstd = smp.layer_norm %x weight %w : tensor<8xf32> epsilon 1.0e-05 : tensor<2x8xf32>
    ```
  }];
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
  let description = [{
    The gradients of `smp.layer_norm`'s operand, weight and bias, from the
    statistics it gave. Made by `differentiate`; `lower` takes the sums over
    rows for weight and bias out of it and gives the rest a cluster, whose
    kernel `emit` builds.

    **Constraints**
    - layer_norm_grad_c1: the operand is no scalar.
    - layer_norm_grad_c2: the weight is a vector as long as the operand's
      last dim.
    - layer_norm_grad_c3: mean and rstd have the operand's shape without the
      last dim.
    - layer_norm_grad_c4: cotangent and operand have the same type.
    - layer_norm_grad_c5: mean and rstd have the same type.

    **Example**
    ```mlir
    // given %c: tensor<2x8xf32>, %x: tensor<2x8xf32>, %m: tensor<2xf32>, %s: tensor<2xf32>
    %dx, %dw, %db = smp.layer_norm_grad %c, %x mean %m rstd %s : tensor<2x8xf32>, tensor<2xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$operand_grad, Smp_FloatTensor:$weight_grad, Smp_FloatTensor:$bias_grad);
  let assemblyFormat = "$cotangent `,` $operand (`weight` $weight^ `:` type($weight))? `mean` $mean `rstd` $rstd attr-dict `:` type($operand) `,` type($mean)";
  let hasVerifier = 1;
}

def Smp_RmsNormOp : Smp_DifferentiableOp<"rms_norm",
    (ins Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, F64Attr:$epsilon),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "division by the root mean square of the last dim; also gives the reciprocal of each row's";
  let description = [{
    Each row of the last dim divided by its root mean square (with `epsilon`
    added to the mean square), times the weight where given; also the
    reciprocal root mean square of each row. Made by `import`, which
    recognises it in its pieces; `lower` gives it a cluster, whose kernel
    `emit` builds.

    **Constraints**
    - rms_norm_c1: the operand is no scalar.
    - rms_norm_c2: the weight is a vector as long as the operand's last dim.
    - rms_norm_c3: `epsilon` is finite and not negative.

    **Example**
    ```mlir
    // given %x: tensor<2x8xf32>, %w: tensor<8xf32>
    %r, %rstd = smp.rms_norm %x weight %w : tensor<8xf32> epsilon 1.0e-06 : tensor<2x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$rstd);
  let assemblyFormat = "$operand (`weight` $weight^ `:` type($weight))? `epsilon` $epsilon attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Smp_RmsNormGradOp : Smp_ModelOp<"rms_norm_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, Smp_FloatTensor:$rstd),
    [AllTypesMatch<["cotangent", "operand"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradients of rms_norm's operand and weight";
  let description = [{
    The gradients of `smp.rms_norm`'s operand and weight, from the
    statistics it gave. Made by `differentiate`; `lower` takes the sum over
    rows for the weight out of it and gives the rest a cluster, whose kernel
    `emit` builds.

    **Constraints**
    - rms_norm_grad_c1: the operand is no scalar.
    - rms_norm_grad_c2: the weight is a vector as long as the operand's last
      dim.
    - rms_norm_grad_c3: rstd has the operand's shape without the last dim.
    - rms_norm_grad_c4: cotangent and operand have the same type.

    **Example**
    ```mlir
    // given %c: tensor<2x8xf32>, %x: tensor<2x8xf32>, %s: tensor<2xf32>
    %dx, %dw = smp.rms_norm_grad %c, %x rstd %s : tensor<2x8xf32>, tensor<2xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$operand_grad, Smp_FloatTensor:$weight_grad);
  let assemblyFormat = "$cotangent `,` $operand (`weight` $weight^ `:` type($weight))? `rstd` $rstd attr-dict `:` type($operand) `,` type($rstd)";
  let hasVerifier = 1;
}

def Smp_SoftmaxOp : Smp_DifferentiableOp<"softmax", (ins Smp_FloatTensor:$operand),
    [Smp_HasShardingRule, SameOperandsAndResultType, DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "softmax over the last dim";
  let description = [{
    The exponentials of each row of the last dim, divided by their sum. Made
    by `import`; `lower` gives it a cluster, whose kernel `emit` builds.

    **Constraints**
    - softmax_c1: the operand is no scalar.
    - softmax_c2: operand and result have the same type.

    **Example**
    ```mlir
    // given %x: tensor<2x8xf32>
    %r = smp.softmax %x : tensor<2x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

def Smp_SoftmaxGradOp : Smp_ModelOp<"softmax_grad", (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$output),
    [SameOperandsAndResultType, DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of softmax's operand, from softmax's result";
  let description = [{
    The gradient of `smp.softmax`'s operand, from the softmax itself. Made
    by `differentiate`; `lower` gives it a cluster, whose kernel `emit`
    builds.

    **Constraints**
    - softmax_grad_c1: the operands are no scalars.
    - softmax_grad_c2: operands and result have the same type.

    **Example**
    ```mlir
    // given %c: tensor<2x8xf32>, %y: tensor<2x8xf32>
    %r = smp.softmax_grad %c, %y : tensor<2x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = "$cotangent `,` $output attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // SMP_IR_NORMOPS_TD
