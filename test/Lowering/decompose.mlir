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

// CHECK-LABEL: @norm_weights_are_sums
func.func @norm_weights_are_sums(%c: tensor<2x3x8xf32>, %x: tensor<2x3x8xf32>, %m: tensor<2x3xf32>, %r: tensor<2x3xf32>) -> (tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[DB:.*]] = smp.reduce_sum %arg0 [0, 1]
  // CHECK: %[[DW:.*]] = smp.reduce_sum %{{.*}} [0, 1]
  // CHECK: %[[DX:.*]], %{{.*}}, %{{.*}} = smp.layer_norm_grad
  // CHECK: return %[[DX]], %[[DW]], %[[DB]]
  %dx, %dw, %db = smp.layer_norm_grad %c, %x mean %m rstd %r : tensor<2x3x8xf32>, tensor<2x3xf32>
  return %dx, %dw, %db : tensor<2x3x8xf32>, tensor<8xf32>, tensor<8xf32>
}
