// RUN: smp-opt %s | smp-opt | FileCheck %s

// Convolutions and pooling: what is printed is what was parsed.

// CHECK-LABEL: func.func @conv2d(
// CHECK-SAME: %[[X:.+]]: tensor<?x4x9x8xf32>, %[[W:.+]]: tensor<6x2x3x3xf32>, %[[B:.+]]: tensor<6xf32>
// CHECK-NEXT: %[[R:.+]] = smp.conv2d %[[X]], %[[W]] bias %[[B]] : tensor<6xf32> stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 : tensor<?x4x9x8xf32>, tensor<6x2x3x3xf32>
// CHECK-NEXT: return %[[R]] : tensor<?x6x5x8xf32>
func.func @conv2d(%x: tensor<?x4x9x8xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>) -> tensor<?x6x5x8xf32> {
  %r = smp.conv2d %x, %w bias %b : tensor<6xf32> stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 : tensor<?x4x9x8xf32>, tensor<6x2x3x3xf32>
  return %r : tensor<?x6x5x8xf32>
}

// CHECK-LABEL: func.func @conv2d_gradients(
// CHECK-SAME: %[[C:.+]]: tensor<2x6x4x8xf32>, %[[X:.+]]: tensor<2x4x9x8xf32>, %[[W:.+]]: tensor<6x2x3x3xf32>
// CHECK-NEXT: %[[I:.+]] = smp.conv2d_input_grad %[[C]], %[[W]] size [9, 8] stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : tensor<2x6x4x8xf32>, tensor<6x2x3x3xf32>
// CHECK-NEXT: %[[G:.+]] = smp.conv2d_weight_grad %[[C]], %[[X]] kernel [3, 3] stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : tensor<2x6x4x8xf32>, tensor<2x4x9x8xf32>
// CHECK-NEXT: return %[[I]], %[[G]] : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32>
func.func @conv2d_gradients(%c: tensor<2x6x4x8xf32>, %x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x3xf32>) -> (tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32>) {
  %i = smp.conv2d_input_grad %c, %w size [9, 8] stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : tensor<2x6x4x8xf32>, tensor<6x2x3x3xf32>
  %g = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [2, 1] padding [0, 1] dilation [1, 1] groups 2 : tensor<2x6x4x8xf32>, tensor<2x4x9x8xf32>
  return %i, %g : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32>
}

// CHECK-LABEL: func.func @max_pool2d(
// CHECK-SAME: %[[X:.+]]: tensor<?x3x9x8xf32>
// CHECK-NEXT: %[[R:.+]], %[[P:.+]] = smp.max_pool2d %[[X]] kernel [3, 2] stride [2, 2] padding [1, 1] dilation [1, 2] ceil : tensor<?x3x9x8xf32>
// CHECK-NEXT: %[[D:.+]] = smp.max_pool2d_grad %[[R]], %[[P]] size [9, 8] kernel [3, 2] stride [2, 2] padding [1, 1] dilation [1, 2] : tensor<?x3x5x5xf32>, tensor<?x3x5x5xi32>
// CHECK-NEXT: return %[[D]] : tensor<?x3x9x8xf32>
func.func @max_pool2d(%x: tensor<?x3x9x8xf32>) -> tensor<?x3x9x8xf32> {
  %r, %p = smp.max_pool2d %x kernel [3, 2] stride [2, 2] padding [1, 1] dilation [1, 2] ceil : tensor<?x3x9x8xf32>
  %d = smp.max_pool2d_grad %r, %p size [9, 8] kernel [3, 2] stride [2, 2] padding [1, 1] dilation [1, 2] : tensor<?x3x5x5xf32>, tensor<?x3x5x5xi32>
  return %d : tensor<?x3x9x8xf32>
}

// CHECK-LABEL: func.func @max_pool2d_without_ceil(
// CHECK: smp.max_pool2d %{{.+}} kernel [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1] : tensor<1x1x4x5xf32>
func.func @max_pool2d_without_ceil(%x: tensor<1x1x4x5xf32>) -> tensor<1x1x2x2xf32> {
  %r, %p = smp.max_pool2d %x kernel [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1] : tensor<1x1x4x5xf32>
  return %r : tensor<1x1x2x2xf32>
}

// CHECK-LABEL: func.func @convolution(
// CHECK-SAME: %[[X:.+]]: tensor<2x4x9x8xf32>, %[[W:.+]]: tensor<6x2x3x3xf32>, %[[C:.+]]: tensor<2x6x5x8xf32>
// CHECK-NEXT: smp.convolution forward %[[X]], %[[W]] stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 2 : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x6x5x8xf32>, tensor<128xf32>
// CHECK-NEXT: smp.convolution backward_data %[[C]], %[[W]] stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 1 : tensor<2x6x5x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x4x9x8xf32>, tensor<128xf32>
// CHECK-NEXT: smp.convolution backward_weights %[[C]], %[[X]] stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 2 : tensor<2x6x5x8xf32>, tensor<2x4x9x8xf32> -> tensor<2x6x2x3x3xf32>, tensor<128xf32>
func.func @convolution(%x: tensor<2x4x9x8xf32>, %w: tensor<6x2x3x3xf32>, %c: tensor<2x6x5x8xf32>) {
  %y, %s = smp.convolution forward %x, %w stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 2 : tensor<2x4x9x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x6x5x8xf32>, tensor<128xf32>
  %d, %t = smp.convolution backward_data %c, %w stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 1 : tensor<2x6x5x8xf32>, tensor<6x2x3x3xf32> -> tensor<2x4x9x8xf32>, tensor<128xf32>
  %g, %u = smp.convolution backward_weights %c, %x stride [2, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 2 : tensor<2x6x5x8xf32>, tensor<2x4x9x8xf32> -> tensor<2x6x2x3x3xf32>, tensor<128xf32>
  return
}
