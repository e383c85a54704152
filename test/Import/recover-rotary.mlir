// RUN: smp-opt %s --smp-recover-composites | FileCheck %s

// The tables shrink to the half that both halves equal.
// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x4x16x8xf32>, %[[A:[^:]*]]: tensor<16x4xf32>)
// CHECK-DAG: %[[C:.*]] = smp.cos %[[A]] : tensor<16x4xf32>
// CHECK-DAG: %[[S:.*]] = smp.sin %[[A]] : tensor<16x4xf32>
// CHECK: %[[Y:.*]] = smp.rotary_embedding %[[X]], %[[C]], %[[S]] : tensor<?x4x16x8xf32>, tensor<16x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @halves(%x: tensor<?x4x16x8xf32>, %angles: tensor<16x4xf32>) -> tensor<?x4x16x8xf32> {
  %b = smp.dim %x, 0 : tensor<?x4x16x8xf32>
  %twice = smp.concat %angles, %angles dim 1 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  %cos = smp.cos %twice : tensor<16x8xf32>
  %one = smp.fill 1.0 : tensor<16x8xf32>
  %scaled = smp.mul %cos, %one : tensor<16x8xf32>
  %sin = smp.sin %twice : tensor<16x8xf32>
  %c = smp.expand %scaled [2, 3] [%b] : tensor<16x8xf32> -> tensor<?x4x16x8xf32>
  %s = smp.expand %sin [2, 3] [%b] : tensor<16x8xf32> -> tensor<?x4x16x8xf32>
  %straight = smp.mul %x, %c : tensor<?x4x16x8xf32>
  %x1 = smp.slice %x, 3 [0 : 4] : tensor<?x4x16x8xf32> -> tensor<?x4x16x4xf32>
  %x2 = smp.slice %x, 3 [4 : 8] : tensor<?x4x16x8xf32> -> tensor<?x4x16x4xf32>
  %n = smp.neg %x2 : tensor<?x4x16x4xf32>
  %r = smp.concat %n, %x1 dim 3 : (tensor<?x4x16x4xf32>, tensor<?x4x16x4xf32>) -> tensor<?x4x16x8xf32>
  %rotated = smp.mul %r, %s : tensor<?x4x16x8xf32>
  %y = smp.add %straight, %rotated : tensor<?x4x16x8xf32>
  return %y : tensor<?x4x16x8xf32>
}

// Tables whose halves differ, or may differ.
// CHECK-LABEL: func.func @any_table
// CHECK-NOT: smp.rotary_embedding
func.func @any_table(%x: tensor<2x4x16x8xf32>, %cos: tensor<16x8xf32>, %sin: tensor<16x8xf32>) -> tensor<2x4x16x8xf32> {
  %c = smp.expand %cos [2, 3] : tensor<16x8xf32> -> tensor<2x4x16x8xf32>
  %s = smp.expand %sin [2, 3] : tensor<16x8xf32> -> tensor<2x4x16x8xf32>
  %straight = smp.mul %x, %c : tensor<2x4x16x8xf32>
  %x1 = smp.slice %x, 3 [0 : 4] : tensor<2x4x16x8xf32> -> tensor<2x4x16x4xf32>
  %x2 = smp.slice %x, 3 [4 : 8] : tensor<2x4x16x8xf32> -> tensor<2x4x16x4xf32>
  %n = smp.neg %x2 : tensor<2x4x16x4xf32>
  %r = smp.concat %n, %x1 dim 3 : (tensor<2x4x16x4xf32>, tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32>
  %rotated = smp.mul %r, %s : tensor<2x4x16x8xf32>
  %y = smp.add %straight, %rotated : tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// (x2, -x1) turns the other way: sin would have to change its sign.
// CHECK-LABEL: func.func @other_way
// CHECK-NOT: smp.rotary_embedding
func.func @other_way(%x: tensor<2x4x16x8xf32>, %angles: tensor<16x4xf32>) -> tensor<2x4x16x8xf32> {
  %twice = smp.concat %angles, %angles dim 1 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  %cos = smp.cos %twice : tensor<16x8xf32>
  %sin = smp.sin %twice : tensor<16x8xf32>
  %c = smp.expand %cos [2, 3] : tensor<16x8xf32> -> tensor<2x4x16x8xf32>
  %s = smp.expand %sin [2, 3] : tensor<16x8xf32> -> tensor<2x4x16x8xf32>
  %straight = smp.mul %x, %c : tensor<2x4x16x8xf32>
  %x1 = smp.slice %x, 3 [0 : 4] : tensor<2x4x16x8xf32> -> tensor<2x4x16x4xf32>
  %x2 = smp.slice %x, 3 [4 : 8] : tensor<2x4x16x8xf32> -> tensor<2x4x16x4xf32>
  %n = smp.neg %x1 : tensor<2x4x16x4xf32>
  %r = smp.concat %x2, %n dim 3 : (tensor<2x4x16x4xf32>, tensor<2x4x16x4xf32>) -> tensor<2x4x16x8xf32>
  %rotated = smp.mul %r, %s : tensor<2x4x16x8xf32>
  %y = smp.add %straight, %rotated : tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}
