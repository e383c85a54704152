//===- OptimizerOps.td - Clipping and parameter updates -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_OPTIMIZEROPS_TD
#define SMP_IR_OPTIMIZEROPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_StepValueOp : Smp_ModelOp<"step_value", (ins Smp_StepValueAttr:$which)> {
  let summary = "a number that the runtime sets for each step";
  let description = [{
    A number that the runtime sets for each step: `learning_rate`, or what
    AdamW divides its moments by, `bias_correction1` and `bias_correction2`.
    Made by `differentiate` in `update` programs; `lower` puts it into a
    cluster, whose kernel `emit` builds.

    **Example**
    ```mlir
    %r = smp.step_value learning_rate
    ```
  }];
  let results = (outs Smp_Scalar:$result);
  let assemblyFormat = "$which attr-dict";
}

def Smp_SumOfSquaresOp : Smp_ModelOp<"sum_of_squares", (ins Smp_FloatTensor:$operand),
    [InferTypeOpAdaptor]> {
  let summary = "sum of the squares of all elements, in f64, as a tensor of one element";
  let description = [{
    The sum of the squares of all elements in double precision, as a tensor
    of one element. Made by `differentiate` in `update` programs; `lower`
    gives it a cluster, whose kernel `emit` builds.

    **Example**
    ```mlir
    // given %x: tensor<4x8xf32>
    %r = smp.sum_of_squares %x : tensor<4x8xf32>
    ```
  }];
  let results = (outs 1DTensorOf<[F64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Smp_ClipFactorOp : Smp_ModelOp<"clip_factor", (ins Smp_Scalar:$squares, F64Attr:$max_norm)> {
  let summary = "min(1, max_norm / (sqrt(squares) + 1e-6))";
  let description = [{
    What gradients whose squares add up to `squares` are multiplied by for
    their norm to be `max_norm` at most: min(1, max_norm / (sqrt(squares) +
    1e-6)). Made by `differentiate` in `update` programs; `lower` puts it
    into a cluster, whose kernel `emit` builds.

    **Constraints**
    - clip_factor_c1: `max_norm` is finite and positive.

    **Example**
    ```mlir
    // given %s: tensor<f64>
    %r = smp.clip_factor %s max 1.0
    ```
  }];
  let results = (outs Smp_Scalar:$result);
  let assemblyFormat = "$squares `max` $max_norm attr-dict";
  let hasVerifier = 1;
}

def Smp_AdamWOp : Smp_ModelOp<"adamw",
    (ins Smp_FloatTensor:$parameter, Smp_FloatTensor:$gradient, Smp_FloatTensor:$exp_avg, Smp_FloatTensor:$exp_avg_sq,
         Smp_Scalar:$learning_rate, Smp_Scalar:$bias_correction1, Smp_Scalar:$bias_correction2,
         Optional<Smp_Scalar>:$gradient_scale,
         F64Attr:$beta1, F64Attr:$beta2, F64Attr:$epsilon, F64Attr:$weight_decay, UnitAttr:$coupled),
    [AllTypesMatch<["parameter", "gradient", "exp_avg", "exp_avg_sq", "new_parameter", "new_exp_avg", "new_exp_avg_sq"]>]> {
  let summary = "one step of AdamW, or of Adam: decay, moments, bias-corrected update";
  let description = [{
    One step of AdamW on a parameter: decay, new first and second moments,
    bias-corrected update; gradients are multiplied by `gradient_scale`
    first, and where that is not a number nothing changes. Made by `differentiate` in `update` programs; `lower` puts it
    into a cluster, whose kernel `emit` builds. It is one of Adam if the
    decay is `coupled`: then the gradient grows by the decay times the
    parameter.

    **Constraints**
    - adamw_c1: the betas are at least 0 and less than 1.
    - adamw_c2: `epsilon` is finite and not negative.
    - adamw_c3: the weight decay is finite and not negative.
    - adamw_c4: parameter, gradient, moments and results have the same type.

    **Example**
    ```mlir
    // given %p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %rate: tensor<f64>, %c1: tensor<f64>, %c2: tensor<f64>, %s: tensor<f64>
    %np, %nm, %nv = smp.adamw %p, %g, %m, %v rate %rate corrections %c1, %c2 scale %s
        betas 0.9, 0.95 epsilon 1.0e-08 decay 0.1 : tensor<4xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$new_parameter, Smp_FloatTensor:$new_exp_avg, Smp_FloatTensor:$new_exp_avg_sq);
  let assemblyFormat = "$parameter `,` $gradient `,` $exp_avg `,` $exp_avg_sq `rate` $learning_rate `corrections` $bias_correction1 `,` $bias_correction2 (`scale` $gradient_scale^)? `betas` $beta1 `,` $beta2 `epsilon` $epsilon `decay` $weight_decay (`coupled` $coupled^)? attr-dict `:` type($parameter)";
  let hasVerifier = 1;
}

def Smp_SgdOp : Smp_ModelOp<"sgd",
    (ins Smp_FloatTensor:$parameter, Smp_FloatTensor:$gradient, Optional<Smp_FloatTensor>:$momentum_buffer,
         Smp_Scalar:$learning_rate, Optional<Smp_Scalar>:$gradient_scale,
         F64Attr:$momentum, F64Attr:$weight_decay),
    [AttrSizedOperandSegments, AllTypesMatch<["parameter", "gradient", "new_parameter", "new_momentum_buffer"]>]> {
  let summary = "one step of stochastic gradient descent; the new momentum is the gradient where there is no buffer";
  let description = [{
    One step of gradient descent on a parameter: decay is added to the
    gradient times `gradient_scale` (where that is not a number, nothing
    changes), the momentum becomes `momentum` times itself plus that
    (or that alone where there is no buffer), and the parameter moves
    against it. Made by `differentiate` in `update` programs; `lower` puts
    it into a cluster, whose kernel `emit` builds.

    **Constraints**
    - sgd_c1: the momentum is finite and not negative.
    - sgd_c2: the weight decay is finite and not negative.
    - sgd_c3: the momentum buffer has the parameter's type.
    - sgd_c4: parameter, gradient and results have the same type.

    **Example**
    ```mlir
    // given %p: tensor<4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %rate: tensor<f64>
    %np, %nb = smp.sgd %p, %g buffer %b : tensor<4xf32> rate %rate momentum 0.9 decay 0.0 : tensor<4xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$new_parameter, Smp_FloatTensor:$new_momentum_buffer);
  let assemblyFormat = "$parameter `,` $gradient (`buffer` $momentum_buffer^ `:` type($momentum_buffer))? `rate` $learning_rate (`scale` $gradient_scale^)? `momentum` $momentum `decay` $weight_decay attr-dict `:` type($parameter)";
  let hasVerifier = 1;
}

#endif // SMP_IR_OPTIMIZEROPS_TD
