// RUN: smp-opt %s | smp-opt | FileCheck %s

// Reductions: what is printed is what was parsed.

// CHECK-LABEL: func.func @reduce_sum(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.reduce_sum %[[ARG0]] [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
func.func @reduce_sum(%x: tensor<2x3x4xf32>) {
  %r = smp.reduce_sum %x [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @reduce_sum_over_nothing(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.reduce_sum %[[ARG0]] [] : tensor<3xf32> -> tensor<3xf32>
func.func @reduce_sum_over_nothing(%x: tensor<3xf32>) {
  %r = smp.reduce_sum %x [] : tensor<3xf32> -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @reduce_max(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.reduce_max %[[ARG0]] [2] : tensor<2x3x4xf32> -> tensor<2x3xf32>
func.func @reduce_max(%x: tensor<2x3x4xf32>) {
  %r = smp.reduce_max %x [2] : tensor<2x3x4xf32> -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @cumsum(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.cumsum %[[ARG0]], 1 reverse : tensor<2x8xi64>
func.func @cumsum(%x: tensor<2x8xi64>) {
  %r = smp.cumsum %x, 1 reverse : tensor<2x8xi64>
  return
}

// CHECK-LABEL: func.func @cumsum_forwards(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.cumsum %[[ARG0]], 0 : tensor<2x8xf32>
func.func @cumsum_forwards(%x: tensor<2x8xf32>) {
  %r = smp.cumsum %x, 0 : tensor<2x8xf32>
  return
}
