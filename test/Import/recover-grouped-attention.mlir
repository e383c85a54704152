// RUN: smp-opt %s --smp-recover-composites | FileCheck %s

// CHECK-LABEL: func.func @repeated
// CHECK-SAME: (%[[Q:[^:]*]]: tensor<?x4x16x8xf32>, %[[K:[^:]*]]: tensor<?x2x16x8xf32>, %[[V:[^:]*]]: tensor<?x2x16x8xf32>)
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = smp.attention %[[Q]], %[[K]], %[[V]] <causal>
// CHECK-NEXT: return %[[Y]]
func.func @repeated(%q: tensor<?x4x16x8xf32>, %k: tensor<?x2x16x8xf32>, %v: tensor<?x2x16x8xf32>) -> tensor<?x4x16x8xf32> {
  %b = smp.dim %q, 0 : tensor<?x4x16x8xf32>
  %k1 = smp.reshape %k [%b] : tensor<?x2x16x8xf32> -> tensor<?x2x1x16x8xf32>
  %k2 = smp.expand %k1 [0, 1, 2, 3, 4] [%b] : tensor<?x2x1x16x8xf32> -> tensor<?x2x2x16x8xf32>
  %k3 = smp.reshape %k2 [%b] : tensor<?x2x2x16x8xf32> -> tensor<?x4x16x8xf32>
  %v1 = smp.reshape %v [%b] : tensor<?x2x16x8xf32> -> tensor<?x2x1x16x8xf32>
  %v2 = smp.expand %v1 [0, 1, 2, 3, 4] [%b] : tensor<?x2x1x16x8xf32> -> tensor<?x2x2x16x8xf32>
  %v3 = smp.reshape %v2 [%b] : tensor<?x2x2x16x8xf32> -> tensor<?x4x16x8xf32>
  %y, %l = smp.attention %q, %k3, %v3 <causal> scale 0.5 : tensor<?x4x16x8xf32>, tensor<?x4x16x8xf32>, tensor<?x4x16x8xf32>
  return %y : tensor<?x4x16x8xf32>
}

// All heads repeated as a whole: head h uses key h mod 2, no groups.
// CHECK-LABEL: func.func @tiled
// CHECK: smp.attention {{.*}} : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>
func.func @tiled(%q: tensor<2x4x16x8xf32>, %k: tensor<2x2x16x8xf32>, %v: tensor<2x2x16x8xf32>) -> tensor<2x4x16x8xf32> {
  %k1 = smp.reshape %k : tensor<2x2x16x8xf32> -> tensor<2x1x2x16x8xf32>
  %k2 = smp.expand %k1 [0, 1, 2, 3, 4] : tensor<2x1x2x16x8xf32> -> tensor<2x2x2x16x8xf32>
  %k3 = smp.reshape %k2 : tensor<2x2x2x16x8xf32> -> tensor<2x4x16x8xf32>
  %v1 = smp.reshape %v : tensor<2x2x16x8xf32> -> tensor<2x1x2x16x8xf32>
  %v2 = smp.expand %v1 [0, 1, 2, 3, 4] : tensor<2x1x2x16x8xf32> -> tensor<2x2x2x16x8xf32>
  %v3 = smp.reshape %v2 : tensor<2x2x2x16x8xf32> -> tensor<2x4x16x8xf32>
  %y, %l = smp.attention %q, %k3, %v3 <causal> scale 0.5 : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}
