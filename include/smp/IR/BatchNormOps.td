//===- BatchNormOps.td - Normalisation over the batch -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Channels are dim 1; statistics go over all other dims. Running averages are
// state: an op takes them as values and gives the new ones, and the function
// returns these as results of role `state`.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_BATCHNORMOPS_TD
#define SMP_IR_BATCHNORMOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_BatchNormOp : Smp_DifferentiableOp<"batch_norm",
    (ins Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, Optional<Smp_FloatTensor>:$bias,
         Smp_FloatTensor:$running_mean, Smp_FloatTensor:$running_variance, F64Attr:$momentum, F64Attr:$epsilon),
    [Smp_HasShardingRule, AttrSizedOperandSegments, AllTypesMatch<["running_mean", "running_variance"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "normalisation of each channel over the batch; also gives mean, reciprocal deviation and new running averages";
  let description = [{
    Each channel less its mean over the batch and all places, divided by its
    standard deviation (with `epsilon` added to the variance), times the
    weight plus the bias where given. Made by `import`; `stage` makes it a
    `smp.batch_norm_inference` where the model is evaluated, and `lower` takes
    it to pieces.

    It also gives the channels' means and reciprocal deviations, for its own
    gradient, and what the running averages become: 1 - `momentum` times the
    old ones plus `momentum` times the mean and the unbiased variance of this
    batch, which is one microbatch of one data owner.

    **Constraints**
    - batch_norm_c1: the operand has rank 2 or more.
    - batch_norm_c2: weight, bias and running averages are vectors with an
      element for each channel.
    - batch_norm_c3: a channel has more than one element: one has no variance.
    - batch_norm_c4: running_mean and running_variance have the same type.

    **Example**
    ```mlir
    // given %x: tensor<4x8x5x5xf32>, %w: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>
    %r, %mean, %rstd, %m1, %v1 = smp.batch_norm %x weight %w : tensor<8xf32> running %m, %v momentum 0.1 epsilon 1.0e-05
        : tensor<4x8x5x5xf32>, tensor<8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$mean, Smp_FloatTensor:$rstd,
                      Smp_FloatTensor:$new_running_mean, Smp_FloatTensor:$new_running_variance);
  let assemblyFormat = [{
    $operand (`weight` $weight^ `:` type($weight))? (`bias` $bias^ `:` type($bias))?
    `running` $running_mean `,` $running_variance `momentum` $momentum `epsilon` $epsilon attr-dict
    `:` type($operand) `,` type($running_mean)
  }];
  let hasVerifier = 1;
}

def Smp_BatchNormGradOp : Smp_ModelOp<"batch_norm_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight,
         Smp_FloatTensor:$mean, Smp_FloatTensor:$rstd),
    [AllTypesMatch<["mean", "rstd"]>, AllTypesMatch<["cotangent", "operand"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradients of batch_norm's operand, weight and bias";
  let description = [{
    The gradients of `smp.batch_norm`'s operand, weight and bias, from the
    statistics it gave. Made by `differentiate`; `lower` takes it to pieces.

    **Constraints**
    - batch_norm_grad_c1: the operand has rank 2 or more.
    - batch_norm_grad_c2: weight, mean and rstd are vectors with an element for
      each channel.
    - batch_norm_grad_c3: cotangent and operand have the same type.
    - batch_norm_grad_c4: mean and rstd have the same type.

    **Example**
    ```mlir
    // given %c: tensor<4x8x5x5xf32>, %x: tensor<4x8x5x5xf32>, %m: tensor<8xf32>, %s: tensor<8xf32>
    %dx, %dw, %db = smp.batch_norm_grad %c, %x mean %m rstd %s : tensor<4x8x5x5xf32>, tensor<8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$operand_grad, Smp_FloatTensor:$weight_grad, Smp_FloatTensor:$bias_grad);
  let assemblyFormat = [{
    $cotangent `,` $operand (`weight` $weight^ `:` type($weight))? `mean` $mean `rstd` $rstd attr-dict
    `:` type($operand) `,` type($mean)
  }];
  let hasVerifier = 1;
}

def Smp_BatchNormInferenceOp : Smp_DifferentiableOp<"batch_norm_inference",
    (ins Smp_FloatTensor:$operand, Optional<Smp_FloatTensor>:$weight, Optional<Smp_FloatTensor>:$bias,
         Smp_FloatTensor:$running_mean, Smp_FloatTensor:$running_variance, F64Attr:$epsilon),
    [Smp_HasShardingRule, AttrSizedOperandSegments, AllTypesMatch<["running_mean", "running_variance"]>, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "normalisation of each channel with its running averages";
  let description = [{
    Each channel less its running mean, divided by the root of its running
    variance (with `epsilon` added), times the weight plus the bias where
    given: batch norm where a model is evaluated, or frozen. Made by `import`
    and `stage`; `lower` takes it to pieces.

    **Constraints**
    - batch_norm_inference_c1: the operand has rank 2 or more.
    - batch_norm_inference_c2: weight, bias and running averages are vectors
      with an element for each channel.
    - batch_norm_inference_c3: running_mean and running_variance have the same
      type.

    **Example**
    ```mlir
    // given %x: tensor<4x8x5x5xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>
    %r = smp.batch_norm_inference %x weight %w : tensor<8xf32> bias %b : tensor<8xf32> running %m, %v epsilon 1.0e-05
        : tensor<4x8x5x5xf32>, tensor<8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = [{
    $operand (`weight` $weight^ `:` type($weight))? (`bias` $bias^ `:` type($bias))?
    `running` $running_mean `,` $running_variance `epsilon` $epsilon attr-dict
    `:` type($operand) `,` type($running_mean)
  }];
  let hasVerifier = 1;
}

#endif // SMP_IR_BATCHNORMOPS_TD
