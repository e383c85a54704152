//===- ConvolutionOps.td - Convolutions and pooling of images -*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Images are [N, C, H, W], kernels [O, C / groups, KH, KW]. What slides over an
// image is said by pairs (along H, along W): `stride` between windows, rows and
// columns of `padding` on each side, `dilation` between the places of a window.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_CONVOLUTIONOPS_TD
#define SMP_IR_CONVOLUTIONOPS_TD

include "smp/IR/SmpAttrs.td"

def Smp_ConvolutionPass : Smp_Enum<"ConvolutionPass", "what a convolution computes", [
  I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"BackwardData", 1, "backward_data">,
  I32EnumAttrCase<"BackwardWeights", 2, "backward_weights">]>;
def Smp_ConvolutionPassAttr : EnumAttr<Smp_Dialect, Smp_ConvolutionPass, "pass"> {
  let assemblyFormat = "$value";
}

def Smp_Conv2dOp : Smp_DifferentiableOp<"conv2d",
    (ins Smp_FloatTensor:$input, Smp_FloatTensor:$weight, Optional<Smp_FloatTensor>:$bias,
         DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, I64Attr:$groups),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "convolution of images [N, C, H, W] with kernels [O, C / groups, KH, KW]: images [N, O, H', W']";
  let description = [{
    At each place of the result the sum over a window of the input, zero
    outside of it, times the kernel of the result's channel, plus the bias
    where given; channels are in `groups` that do not see each other. Made by
    `import`; `lower` makes it a `smp.convolution`, and adds the bias.

    **Constraints**
    - conv2d_c1: input and weight have rank 4 and the same element type.
    - conv2d_c2: stride, padding and dilation are pairs; strides and dilations
      are 1 or more, paddings 0 or more.
    - conv2d_c3: the groups divide the kernels, and the input has `groups`
      times the channels of a kernel.
    - conv2d_c4: a kernel fits into the padded input.
    - conv2d_c5: the bias is a vector with an element for each kernel.

    **Example**
    ```mlir
    // given %x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>
    %r = smp.conv2d %x, %w bias %b : tensor<6xf32> stride [2, 1] padding [1, 1] dilation [1, 1] groups 2
        : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^ `:` type($bias))? `stride` $stride `padding` $padding `dilation` $dilation
    `groups` $groups attr-dict `:` type($input) `,` type($weight)
  }];
  let hasVerifier = 1;
}

def Smp_Conv2dInputGradOp : Smp_ModelOp<"conv2d_input_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$weight, DenseI64ArrayAttr:$size,
         DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, I64Attr:$groups),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of conv2d's input, whose height and width are `size`";
  let description = [{
    The gradient of `smp.conv2d`'s input, an image of `size`. Made by
    `differentiate`; `lower` makes it a `smp.convolution`.

    **Constraints**
    - conv2d_input_grad_c1: cotangent and weight have rank 4 and the same
      element type.
    - conv2d_input_grad_c2: size, stride, padding and dilation are pairs;
      strides and dilations are 1 or more, paddings 0 or more.
    - conv2d_input_grad_c3: the cotangent has a channel for each kernel, and
      the groups divide them.
    - conv2d_input_grad_c4: the cotangent has a place for each window of an
      input of that size.

    **Example**
    ```mlir
    // given %c: tensor<2x6x5x8xf32>, %w: tensor<6x2x3x3xf32>
    %r = smp.conv2d_input_grad %c, %w size [9, 8] stride [2, 1] padding [1, 1] dilation [1, 1] groups 2
        : tensor<2x6x5x8xf32>, tensor<6x2x3x3xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = [{
    $cotangent `,` $weight `size` $size `stride` $stride `padding` $padding `dilation` $dilation
    `groups` $groups attr-dict `:` type($cotangent) `,` type($weight)
  }];
}

def Smp_Conv2dWeightGradOp : Smp_ModelOp<"conv2d_weight_grad",
    (ins Smp_FloatTensor:$cotangent, Smp_FloatTensor:$input, DenseI64ArrayAttr:$kernel,
         DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, I64Attr:$groups),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of conv2d's weight, whose kernels are `kernel` high and wide";
  let description = [{
    The gradient of `smp.conv2d`'s weight, of kernels of the height and width
    `kernel`. Made by `differentiate`; `lower` makes it a `smp.convolution`,
    of several parts of the batch where that is large, and their sum.

    **Constraints**
    - conv2d_weight_grad_c1: cotangent and input have rank 4, the same element
      type and the same batch.
    - conv2d_weight_grad_c2: kernel, stride, padding and dilation are pairs;
      kernels, strides and dilations are 1 or more, paddings 0 or more.
    - conv2d_weight_grad_c3: the groups divide the channels of both.
    - conv2d_weight_grad_c4: the cotangent has a place for each window of the
      input.

    **Example**
    ```mlir
    // given %c: tensor<2x6x5x8xf32>, %x: tensor<2x4x9x8xf32>
    %r = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [2, 1] padding [1, 1] dilation [1, 1] groups 2
        : tensor<2x6x5x8xf32>, tensor<2x4x9x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = [{
    $cotangent `,` $input `kernel` $kernel `stride` $stride `padding` $padding `dilation` $dilation
    `groups` $groups attr-dict `:` type($cotangent) `,` type($input)
  }];
}

def Smp_MaxPool2dOp : Smp_DifferentiableOp<"max_pool2d",
    (ins Smp_FloatTensor:$operand, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
         DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation, UnitAttr:$ceil),
    [Smp_HasShardingRule, InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "largest element of each window of images; also gives its place in the window";
  let description = [{
    The largest element of each window of the images of all channels, places
    outside the image left out; also where it is in the window, counted row by
    row: the first of equal ones, the last NaN if there is one. Made by
    `import`; `lower` gives it a cluster, whose kernel `emit` builds.

    With `ceil` a last window may begin inside the padded image and end
    outside.

    **Constraints**
    - max_pool2d_c1: the operand has rank 4.
    - max_pool2d_c2: kernel, stride, padding and dilation are pairs; all are 1
      or more, paddings 0 or more and at most half the kernel.
    - max_pool2d_c3: a window fits into the padded image.

    **Example**
    ```mlir
    // given %x: tensor<2x3x9x8xf32>
    %r, %p = smp.max_pool2d %x kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x3x9x8xf32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result, RankedTensorOf<[I32]>:$places);
  let assemblyFormat = [{
    $operand `kernel` $kernel `stride` $stride `padding` $padding `dilation` $dilation (`ceil` $ceil^)?
    attr-dict `:` type($operand)
  }];
}

def Smp_MaxPool2dGradOp : Smp_ModelOp<"max_pool2d_grad",
    (ins Smp_FloatTensor:$cotangent, RankedTensorOf<[I32]>:$places, DenseI64ArrayAttr:$size,
         DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
         DenseI64ArrayAttr:$dilation),
    [InferTypeOpAdaptor,
     DeclareOpInterfaceMethods<Smp_CostOpInterface, ["getFlops"]>]> {
  let summary = "gradient of max_pool2d's operand, whose height and width are `size`";
  let description = [{
    The gradient of `smp.max_pool2d`'s operand, images of `size`: at each
    place the sum of the cotangents of the windows that had their largest
    element there. Made by `differentiate`; `lower` gives it a cluster, whose
    kernel `emit` builds.

    **Constraints**
    - max_pool2d_grad_c1: the cotangent has rank 4, and the places have its
      shape.
    - max_pool2d_grad_c2: size, kernel, stride, padding and dilation are pairs;
      all are 1 or more, paddings 0 or more and at most half the kernel.

    **Example**
    ```mlir
    // given %c: tensor<2x3x5x4xf32>, %p: tensor<2x3x5x4xi32>
    %r = smp.max_pool2d_grad %c, %p size [9, 8] kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1]
        : tensor<2x3x5x4xf32>, tensor<2x3x5x4xi32>
    ```
  }];
  let results = (outs Smp_FloatTensor:$result);
  let assemblyFormat = [{
    $cotangent `,` $places `size` $size `kernel` $kernel `stride` $stride `padding` $padding `dilation` $dilation
    attr-dict `:` type($cotangent) `,` type($places)
  }];
}

def Smp_ConvolutionOp : Smp_Op<"convolution", [Pure, Smp_ModelOpInterface]> {
  let summary = "a convolution or one of its gradients on dense images: a library command";
  let description = [{
    What `pass` says of dense images and kernels, as one library command in
    `tiles` equal parts of the batch, which threads may compute at once. Made
    by `lower`; `emit` makes it a convolution command.

    | pass | lhs | rhs | result |
    |---|---|---|---|
    | `forward` | input [N, C, H, W] | kernels [O, C / groups, KH, KW] | [N, O, H', W'] |
    | `backward_data` | cotangent [N, O, H', W'] | kernels | [N, C, H, W] |
    | `backward_weights` | cotangent | input | for each tile [O, C / groups, KH, KW] |

    The second result is the memory that the library may use, the same for
    each tile.

    **Constraints**
    - convolution_c1: all shapes are static, and together those of a
      convolution with this stride, padding, dilation and groups.
    - convolution_c2: the tiles divide the batch and the workspace.

    **Example**
    ```mlir
    // given %x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x3xf32>
    %r, %s = smp.convolution forward %x, %w stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 2
        : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x6x5x8xf32>, tensor<2048xf32>
    ```
  }];
  let arguments = (ins Smp_ConvolutionPassAttr:$pass, Smp_FloatTensor:$lhs, Smp_FloatTensor:$rhs,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation,
                       I64Attr:$groups, I64Attr:$tiles, DefaultValuedStrAttr<StrAttr, "">:$scope);
  let results = (outs Smp_FloatTensor:$result, Smp_FloatTensor:$workspace);
  let assemblyFormat = [{
    $pass $lhs `,` $rhs `stride` $stride `padding` $padding `dilation` $dilation `groups` $groups `tiles` $tiles
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result) `,` type($workspace)
  }];
  let hasVerifier = 1;
}

#endif // SMP_IR_CONVOLUTIONOPS_TD
