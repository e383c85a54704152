// RUN: smp-opt %s --smp-cluster | FileCheck %s

// CHECK-LABEL: @chain_is_one_kernel
func.func @chain_is_one_kernel(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[R:.*]] = smp.cluster(%arg1, %arg0) in_place [-1]
  // CHECK: smp.expand
  // CHECK: smp.add
  // CHECK: smp.gelu
  // CHECK-NOT: smp.cluster
  // CHECK: return %[[R]]
  %0 = smp.expand %b [1] : tensor<4xf32> -> tensor<8x4xf32>
  %1 = smp.add %x, %0 : tensor<8x4xf32>
  %2 = smp.gelu %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// The sum needs all of exp, the quotient needs the sum: exp and div must not
// meet in one kernel.
// CHECK-LABEL: @no_kernel_waits_for_itself
func.func @no_kernel_waits_for_itself(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[E:.*]] = smp.cluster(%arg0)
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: smp.exp
  // CHECK: %[[S:.*]] = smp.cluster(%[[E]])
  // CHECK: smp.reduce_sum
  // CHECK: smp.cluster(%[[S]], %[[E]])
  // CHECK: smp.expand
  // CHECK: smp.div
  %0 = smp.exp %x : tensor<4x8xf32>
  %1 = smp.reduce_sum %0 [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = smp.expand %1 [0] : tensor<4xf32> -> tensor<4x8xf32>
  %3 = smp.div %0, %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: @producer_joins_a_sum
func.func @producer_joins_a_sum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<8xf32> {
  // CHECK: smp.cluster(%arg0, %arg1)
  // CHECK: smp.mul
  // CHECK: smp.reduce_sum
  // CHECK-NOT: smp.cluster
  %0 = smp.mul %x, %y : tensor<4x8xf32>
  %1 = smp.reduce_sum %0 [0] : tensor<4x8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @moves_are_cloned_and_reshapes_are_memory
func.func @moves_are_cloned_and_reshapes_are_memory(%x: tensor<2x3x8xf32>, %w: tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<2x3x8xf32>) {
  // CHECK: %[[V:.*]] = smp.reshape %arg0
  // CHECK: smp.product %[[V]], %arg1
  // CHECK: smp.cluster(%arg0)
  // CHECK: smp.reshape
  // CHECK: smp.exp
  %0 = smp.reshape %x : tensor<2x3x8xf32> -> tensor<6x8xf32>
  %1 = smp.product %0, %w transposed true, false batch 1, 1, 1 sizes 8, 2, 6 : tensor<6x8xf32>, tensor<6x2xf32> -> tensor<8x2xf32>
  %2 = smp.reshape %1 : tensor<8x2xf32> -> tensor<16xf32>
  %3 = smp.exp %0 : tensor<6x8xf32>
  %4 = smp.reshape %3 : tensor<6x8xf32> -> tensor<2x3x8xf32>
  %5 = smp.slice %1, 0 [0 : 6] : tensor<8x2xf32> -> tensor<6x2xf32>
  return %5, %4 : tensor<6x2xf32>, tensor<2x3x8xf32>
}
