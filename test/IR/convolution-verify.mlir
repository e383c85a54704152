// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Convolutions and pooling: what violates a constraint, whose id stands above it, is refused.

// conv2d_c1
func.func @conv2d_of_a_matrix(%x: tensor<4x9xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects operands of rank 4, got ranks 2 and 4}}
  %r = smp.conv2d %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<4x9xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_c1
func.func @conv2d_of_two_types(%x: tensor<2x2x9x9xf64>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects one element type, got 'f64' and 'f32'}}
  %r = smp.conv2d %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x2x9x9xf64>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_c2
func.func @conv2d_with_one_stride(%x: tensor<2x2x9x9xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects two numbers as stride, got 1}}
  %r = smp.conv2d %x, %w stride [1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x2x9x9xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_c2
func.func @conv2d_without_dilation(%x: tensor<2x2x9x9xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects a dilation of at least 1 and at most 16777216, got 0}}
  %r = smp.conv2d %x, %w stride [1, 1] padding [0, 0] dilation [1, 0] groups 1 : tensor<2x2x9x9xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_c3
func.func @conv2d_with_groups_that_do_not_divide(%x: tensor<2x8x9x9xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects groups that divide the 6 kernels and an input of so many times 2 channels, got 4 groups and 8 channels}}
  %r = smp.conv2d %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 4 : tensor<2x8x9x9xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_c4
func.func @conv2d_with_a_large_kernel(%x: tensor<2x2x3x9xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects a kernel that fits into 3x9, got 3x3}}
  %r = smp.conv2d %x, %w stride [1, 1] padding [0, 0] dilation [2, 1] groups 1 : tensor<2x2x3x9xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_c5
func.func @conv2d_with_a_short_bias(%x: tensor<2x2x9x9xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{'smp.conv2d' op expects bias of shape 6, got 2}}
  %r = smp.conv2d %x, %w bias %b : tensor<2xf32> stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x2x9x9xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_input_grad_c1
func.func @conv2d_input_grad_of_a_matrix(%c: tensor<2x6xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects operands of rank 4, got ranks 2 and 4}}
  %r = smp.conv2d_input_grad %c, %w size [9, 9] stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x6xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_input_grad_c2
func.func @conv2d_input_grad_without_size(%c: tensor<2x6x7x7xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects a size of at least 1 and at most 16777216, got 0}}
  %r = smp.conv2d_input_grad %c, %w size [9, 0] stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x6x7x7xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_input_grad_c3
func.func @conv2d_input_grad_of_other_channels(%c: tensor<2x4x7x7xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects a cotangent of 6 channels, got 4}}
  %r = smp.conv2d_input_grad %c, %w size [9, 9] stride [1, 1] padding [0, 0] dilation [1, 1] groups 2 : tensor<2x4x7x7xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_input_grad_c4
func.func @conv2d_input_grad_of_another_size(%c: tensor<2x6x7x7xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{expects 8x7 windows over an image of 10x9, got 7x7}}
  %r = smp.conv2d_input_grad %c, %w size [10, 9] stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x6x7x7xf32>, tensor<6x2x3x3xf32>
  return
}

// -----

// conv2d_weight_grad_c1
func.func @conv2d_weight_grad_of_two_batches(%c: tensor<2x6x7x7xf32>, %x: tensor<3x2x9x9xf32>) {
  // expected-error@+1 {{expects as many images as cotangents, 2, got 3}}
  %r = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x6x7x7xf32>, tensor<3x2x9x9xf32>
  return
}

// -----

// conv2d_weight_grad_c2
func.func @conv2d_weight_grad_with_negative_padding(%c: tensor<2x6x7x7xf32>, %x: tensor<2x2x9x9xf32>) {
  // expected-error@+1 {{expects a padding of at least 0 and at most 16777216, got -1}}
  %r = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [1, 1] padding [0, -1] dilation [1, 1] groups 1 : tensor<2x6x7x7xf32>, tensor<2x2x9x9xf32>
  return
}

// -----

// conv2d_weight_grad_c3
func.func @conv2d_weight_grad_with_groups_that_do_not_divide(%c: tensor<2x6x7x7xf32>, %x: tensor<2x2x9x9xf32>) {
  // expected-error@+1 {{expects groups that divide 6 and 2 channels, got 3}}
  %r = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [1, 1] padding [0, 0] dilation [1, 1] groups 3 : tensor<2x6x7x7xf32>, tensor<2x2x9x9xf32>
  return
}

// -----

// conv2d_weight_grad_c4
func.func @conv2d_weight_grad_of_another_kernel(%c: tensor<2x6x7x7xf32>, %x: tensor<2x2x9x9xf32>) {
  // expected-error@+1 {{expects 5x7 windows over an image of 9x9, got 7x7}}
  %r = smp.conv2d_weight_grad %c, %x kernel [5, 3] stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<2x6x7x7xf32>, tensor<2x2x9x9xf32>
  return
}

// -----

// max_pool2d_c1
func.func @max_pool2d_of_one_image(%x: tensor<3x9x8xf32>) {
  // expected-error@+1 {{expects an operand of rank 4, got rank 3}}
  %r, %p = smp.max_pool2d %x kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<3x9x8xf32>
  return
}

// -----

// max_pool2d_c2
func.func @max_pool2d_with_much_padding(%x: tensor<2x3x9x8xf32>) {
  // expected-error@+1 {{expects a padding of at most half the kernel, 1, got 2}}
  %r, %p = smp.max_pool2d %x kernel [3, 3] stride [2, 2] padding [1, 2] dilation [1, 1] : tensor<2x3x9x8xf32>
  return
}

// -----

// max_pool2d_c3
func.func @max_pool2d_with_a_large_window(%x: tensor<2x3x9x8xf32>) {
  // expected-error@+1 {{expects a window that fits into 9x8, got 3x9}}
  %r, %p = smp.max_pool2d %x kernel [3, 9] stride [2, 2] padding [0, 0] dilation [1, 1] : tensor<2x3x9x8xf32>
  return
}

// -----

// max_pool2d_grad_c1
func.func @max_pool2d_grad_of_other_places(%c: tensor<2x3x5x4xf32>, %p: tensor<2x3x4x4xi32>) {
  // expected-error@+1 {{expects cotangent and places of one shape of rank 4, got 2x3x5x4 and 2x3x4x4}}
  %r = smp.max_pool2d_grad %c, %p size [9, 8] kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x3x5x4xf32>, tensor<2x3x4x4xi32>
  return
}

// -----

// max_pool2d_grad_c2
func.func @max_pool2d_grad_without_kernel(%c: tensor<2x3x5x4xf32>, %p: tensor<2x3x5x4xi32>) {
  // expected-error@+1 {{expects a kernel of at least 1 and at most 16777216, got 0}}
  %r = smp.max_pool2d_grad %c, %p size [9, 8] kernel [0, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x3x5x4xf32>, tensor<2x3x5x4xi32>
  return
}

// -----

// convolution_c1
func.func @convolution_of_a_batch_of_any_size(%x: tensor<?x4x9x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{'smp.convolution' op expects static shapes of rank 4, got ?x4x9x8, 6x2x3x3 and 2x6x5x8}}
  %r, %s = smp.convolution forward %x, %w stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 1 : tensor<?x4x9x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x6x5x8xf32>, tensor<64xf32>
  return
}

// -----

// convolution_c1
func.func @convolution_of_other_places(%x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{'smp.convolution' op expects an output of shape 2x6x5x8 and 2 groups that divide the channels, got 2x6x4x8 of 2x4x9x8 and 6x2x3x3}}
  %r, %s = smp.convolution forward %x, %w stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 1 : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x6x4x8xf32>, tensor<64xf32>
  return
}

// -----

// convolution_c2
func.func @convolution_in_three_tiles(%x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{'smp.convolution' op expects tiles that divide a batch of 2 and a workspace of 64, got 3}}
  %r, %s = smp.convolution forward %x, %w stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 3 : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x6x5x8xf32>, tensor<64xf32>
  return
}
