// RUN: smp-opt %s --smp-decompose | FileCheck %s

// CHECK-LABEL: @accumulator_starts_the_product
func.func @accumulator_starts_the_product(
    %acc: tensor<4x3xf32> {smp.binding = #smp.binding<gradient, "w">},
    %c: tensor<8x4xf32> {smp.binding = #smp.binding<saved, "0">},
    %x: tensor<8x3xf32> {smp.binding = #smp.binding<saved, "1">})
    -> (tensor<4x3xf32> {smp.binding = #smp.binding<gradient, "w">}) {
  // CHECK: %[[R:.*]] = smp.product %{{.*}}, %{{.*}} into %arg0 : tensor<4x3xf32> transposed true, false batch 1, 1, 1 sizes 4, 3, 8
  // CHECK-NOT: smp.add
  // CHECK: return %[[R]]
  %0 = smp.linear_weight_grad %c, %x {scope = "fc"} : tensor<8x4xf32>, tensor<8x3xf32>
  %1 = smp.add %acc, %0 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @other_sums_stay
func.func @other_sums_stay(
    %acc: tensor<8x3xf32> {smp.binding = #smp.binding<cotangent, "v0">},
    %c: tensor<8x4xf32> {smp.binding = #smp.binding<saved, "0">},
    %w: tensor<4x3xf32> {smp.binding = #smp.binding<parameter, "w">})
    -> (tensor<8x3xf32> {smp.binding = #smp.binding<cotangent, "v1">}) {
  // CHECK: %[[P:.*]] = smp.product %{{.*}}, %{{.*}} transposed false, false batch 1, 1, 1 sizes 8, 3, 4 {scope = "fc"}
  // CHECK: smp.add %{{.*}}, %[[P]]
  %0 = smp.linear %c, %w transposed {scope = "fc"} : tensor<8x4xf32>, tensor<4x3xf32>
  %1 = smp.add %acc, %0 : tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

// Query heads 0 and 1 read key head 0, so its gradient sums over both.
// CHECK-LABEL: @grouped_attention
func.func @grouped_attention(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x8xf32>, %c: tensor<2x4x6x8xf32>)
    -> (tensor<2x2x6x8xf32>) {
  // CHECK: smp.product %arg0, %arg1 transposed false, true batch 8, 2, 1 sizes 6, 6, 8
  // CHECK: smp.attention_softmax
  // CHECK: smp.product %{{.*}}, %arg2 transposed false, false batch 8, 2, 1 sizes 6, 8, 6
  // CHECK: %[[W:.*]], %[[S:.*]] = smp.attention_softmax_grad
  // CHECK: smp.product %[[S]], %arg0 transposed true, false batch 8, 1, 2 sizes 6, 8, 6
  %o, %l = smp.attention %q, %k, %v <causal> scale 0.35 : tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>
  %dq, %dk, %dv = smp.attention_grad %c, %q, %k, %v, %o, %l <causal> scale 0.35 : tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6xf32>
  return %dk : tensor<2x2x6x8xf32>
}

// The gradient of a bias is that of the scaled scores, summed where it
// broadcasts; query and key are then scaled at the end.
// CHECK-LABEL: @attention_bias_gradient
func.func @attention_bias_gradient(%c: tensor<3x2x6x8xf32>, %q: tensor<3x2x6x8xf32>, %o: tensor<3x2x6x8xf32>, %l: tensor<3x2x6xf32>, %b: tensor<1x2x6x6xf32>) -> (tensor<3x2x6x8xf32>, tensor<1x2x6x6xf32>) {
  // CHECK: %{{.*}}, %[[G:.*]] = smp.attention_softmax_grad {{.*}} bias %arg4 : tensor<1x2x6x6xf32> <causal> scale 3.500000e-01 unscaled
  // CHECK: %[[DQ:.*]] = smp.product %[[G]], %arg1
  // CHECK: %[[SCALE:.*]] = smp.fill 3.500000e-01 : tensor<3x2x6x8xf32>
  // CHECK: %[[SCALED:.*]] = smp.mul %[[DQ]], %[[SCALE]]
  // CHECK: %[[SUM:.*]] = smp.reduce_sum %[[G]] [0] : tensor<3x2x6x6xf32> -> tensor<2x6x6xf32>
  // CHECK: %[[DB:.*]] = smp.reshape %[[SUM]] : tensor<2x6x6xf32> -> tensor<1x2x6x6xf32>
  // CHECK: return %[[SCALED]], %[[DB]]
  %dq, %dk, %dv, %db = smp.attention_grad %c, %q, %q, %q, %o, %l bias %b : tensor<1x2x6x6xf32> bias_gradient <causal> scale 0.35 : tensor<3x2x6x8xf32>, tensor<3x2x6x8xf32>, tensor<3x2x6x8xf32>, tensor<3x2x6x8xf32>, tensor<3x2x6xf32>
  return %dq, %db : tensor<3x2x6x8xf32>, tensor<1x2x6x6xf32>
}

// CHECK-LABEL: @norm_weights_are_sums
func.func @norm_weights_are_sums(%c: tensor<2x3x8xf32>, %x: tensor<2x3x8xf32>, %m: tensor<2x3xf32>, %r: tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[DB:.*]] = smp.reduce_sum %arg0 [0, 1]
  // CHECK: %[[DW:.*]] = smp.reduce_sum %{{.*}} [0, 1]
  // CHECK: %[[DX:.*]], %{{.*}}, %{{.*}} = smp.layer_norm_grad
  // CHECK: return %[[DX]], %[[DW]], %[[DB]]
  %dx, %dw, %db = smp.layer_norm_grad %c, %x mean %m rstd %r : tensor<2x3x8xf32>, tensor<2x3xf32>
  return %dx, %dw, %db : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Six images in six tiles; the bias is added to all of them.
// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<6x4x9x7xf32>, %w: tensor<8x2x3x3xf32>, %b: tensor<8xf32>) -> tensor<6x8x9x7xf32> {
  // CHECK: %[[Y:.*]], %{{.*}} = smp.convolution forward %arg0, %arg1 stride [1, 1] padding [1, 1] dilation [1, 1] groups 2 tiles 6 {scope = "conv"}
  // CHECK: %[[B:.*]] = smp.expand %arg2 [1]
  // CHECK: smp.add %[[Y]], %[[B]] {scope = "conv"}
  %0 = smp.conv2d %x, %w bias %b : tensor<8xf32> stride [1, 1] padding [1, 1] dilation [1, 1] groups 2 {scope = "conv"} : tensor<6x4x9x7xf32>, tensor<8x2x3x3xf32>
  return %0 : tensor<6x8x9x7xf32>
}

// Sixteen images in eight tiles, whose parts of the gradient are added in order.
// CHECK-LABEL: @convolution_gradients
func.func @convolution_gradients(%c: tensor<16x8x9x7xf32>, %x: tensor<16x4x9x7xf32>, %w: tensor<8x4x3x3xf32>) -> (tensor<16x4x9x7xf32>, tensor<8x4x3x3xf32>) {
  // CHECK: smp.convolution backward_data %arg0, %arg2 {{.*}} tiles 8 {{.*}} -> tensor<16x4x9x7xf32>
  // CHECK: %[[P:.*]], %{{.*}} = smp.convolution backward_weights %arg0, %arg1 {{.*}} tiles 8 {{.*}} -> tensor<8x8x4x3x3xf32>
  // CHECK: smp.reduce_sum %[[P]] [0]
  %0 = smp.conv2d_input_grad %c, %w size [9, 7] stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : tensor<16x8x9x7xf32>, tensor<8x4x3x3xf32>
  %1 = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : tensor<16x8x9x7xf32>, tensor<16x4x9x7xf32>
  return %0, %1 : tensor<16x4x9x7xf32>, tensor<8x4x3x3xf32>
}

// The parts of a large gradient are few, so that they fit.
// CHECK-LABEL: @large_weight_gradient
func.func @large_weight_gradient(%c: tensor<4x512x2x2xf32>, %x: tensor<4x512x2x2xf32>) -> tensor<512x512x3x3xf32> {
  // CHECK: %[[P:.*]], %{{.*}} = smp.convolution backward_weights {{.*}} tiles 1 {{.*}} -> tensor<1x512x512x3x3xf32>
  // CHECK: smp.reshape %[[P]]
  %0 = smp.conv2d_weight_grad %c, %x kernel [3, 3] stride [1, 1] padding [1, 1] dilation [1, 1] groups 1 : tensor<4x512x2x2xf32>, tensor<4x512x2x2xf32>
  return %0 : tensor<512x512x3x3xf32>
}

// What feeds a sum is there for it alone.
// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<4x8x5x5xf32>, %m: tensor<8xf32>) -> (tensor<4x8x5x5xf32>, tensor<8xf32>) {
  // CHECK: smp.reduce_sum %arg0 [0, 2, 3]
  // CHECK: %[[A:.*]] = smp.sub %arg0
  // CHECK: %[[Q:.*]] = smp.mul %[[A]], %[[A]]
  // CHECK: smp.reduce_sum %[[Q]] [0, 2, 3]
  // CHECK: smp.sub %arg0
  // CHECK-NOT: smp.batch_norm
  %0, %1, %2, %3, %4 = smp.batch_norm %x running %m, %m momentum 0.1 epsilon 1.0e-05 : tensor<4x8x5x5xf32>, tensor<8xf32>
  return %0, %4 : tensor<4x8x5x5xf32>, tensor<8xf32>
}
