// RUN: smp-opt %s | smp-opt | FileCheck %s

// CHECK-LABEL: @product
func.func @product(%x: tensor<2x4x16xf32>, %w: tensor<4x16xf32>, %a: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>) {
  // CHECK: smp.product %arg0, %arg1 transposed false, true batch 1, 1, 1 sizes 8, 4, 16
  %0 = smp.product %x, %w transposed false, true batch 1, 1, 1 sizes 8, 4, 16 : tensor<2x4x16xf32>, tensor<4x16xf32> -> tensor<2x4x4xf32>
  // CHECK: smp.product %arg0, %arg1 into %arg2 : tensor<2x4x4xf32> transposed false, true
  %1 = smp.product %x, %w into %a : tensor<2x4x4xf32> transposed false, true batch 1, 1, 1 sizes 8, 4, 16 {scope = "fc"} : tensor<2x4x16xf32>, tensor<4x16xf32> -> tensor<2x4x4xf32>
  return %0, %1 : tensor<2x4x4xf32>, tensor<2x4x4xf32>
}

// CHECK-LABEL: @rows
func.func @rows(%s: tensor<2x4x8x8xf32>, %o: tensor<2x4x8x16xf32>, %l: tensor<2x4x8xf32>, %x: tensor<8x32xf32>, %y: tensor<8xi64>) {
  // CHECK: smp.attention_softmax %arg0 <causal> scale 2.500000e-01
  %p, %lse = smp.attention_softmax %s <causal> scale 0.25 : tensor<2x4x8x8xf32> -> tensor<2x4x8xf32>
  // CHECK: smp.attention_softmax_grad %arg0, %arg0, %arg1, %arg1, %arg2 <none> scale 1.000000e+00 dropout 5.000000e-01 site 3
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l <none> scale 1.0 dropout 0.5 site 3 : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
  // CHECK: smp.cross_entropy_rows %arg3, %arg4 ignore -100
  %r, %rl = smp.cross_entropy_rows %x, %y ignore -100 : tensor<8x32xf32>, tensor<8xi64> -> tensor<8xf32>
  return
}

// CHECK-LABEL: @cluster
func.func @cluster(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: smp.cluster(%arg0, %arg1) in_place [0] {
  // CHECK: smp.yield %{{.*}} : tensor<8xf32>
  %r = smp.cluster(%a, %b) in_place [0] {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %s = smp.add %x, %y : tensor<8xf32>
    smp.yield %s : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
