// RUN: smp-opt %s | smp-opt | FileCheck %s

// Matrix products: what is printed is what was parsed.

// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8xf32>, %[[ARG1:.+]]: tensor<16x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.linear %[[ARG0]], %[[ARG1]] : tensor<2x4x8xf32>, tensor<16x8xf32>
func.func @linear(%x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>) {
  %r = smp.linear %x, %w : tensor<2x4x8xf32>, tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @linear_transposed(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<8x16xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.linear %[[ARG0]], %[[ARG1]] transposed : tensor<?x8xf32>, tensor<8x16xf32>
func.func @linear_transposed(%x: tensor<?x8xf32>, %w: tensor<8x16xf32>) {
  %r = smp.linear %x, %w transposed : tensor<?x8xf32>, tensor<8x16xf32>
  return
}

// CHECK-LABEL: func.func @linear_weight_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x16xf32>, %[[ARG1:.+]]: tensor<2x4x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.linear_weight_grad %[[ARG0]], %[[ARG1]] : tensor<2x4x16xf32>, tensor<2x4x8xf32>
func.func @linear_weight_grad(%c: tensor<2x4x16xf32>, %x: tensor<2x4x8xf32>) {
  %r = smp.linear_weight_grad %c, %x : tensor<2x4x16xf32>, tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @linear_weight_grad_transposed(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x16xf32>, %[[ARG1:.+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.linear_weight_grad %[[ARG0]], %[[ARG1]] transposed : tensor<4x16xf32>, tensor<4x8xf32>
func.func @linear_weight_grad_transposed(%c: tensor<4x16xf32>, %x: tensor<4x8xf32>) {
  %r = smp.linear_weight_grad %c, %x transposed : tensor<4x16xf32>, tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @batch_matmul(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>, %[[ARG1:.+]]: tensor<2x5x4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.batch_matmul %[[ARG0]], %[[ARG1]] T : tensor<2x3x4xf32>, tensor<2x5x4xf32>
func.func @batch_matmul(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) {
  %r = smp.batch_matmul %a, %b T : tensor<2x3x4xf32>, tensor<2x5x4xf32>
  return
}

// CHECK-LABEL: func.func @batch_matmul_plain(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3x4xf32>, %[[ARG1:.+]]: tensor<4x5xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.batch_matmul %[[ARG0]], %[[ARG1]] : tensor<3x4xf32>, tensor<4x5xf32>
func.func @batch_matmul_plain(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) {
  %r = smp.batch_matmul %a, %b : tensor<3x4xf32>, tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @batch_matmul_both_transposed(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x3xf32>, %[[ARG1:.+]]: tensor<2x5x4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.batch_matmul %[[ARG0]] T, %[[ARG1]] T : tensor<2x4x3xf32>, tensor<2x5x4xf32>
func.func @batch_matmul_both_transposed(%a: tensor<2x4x3xf32>, %b: tensor<2x5x4xf32>) {
  %r = smp.batch_matmul %a T, %b T : tensor<2x4x3xf32>, tensor<2x5x4xf32>
  return
}
