// RUN: smp-opt %s | smp-opt | FileCheck %s

// Losses: what is printed is what was parsed.

// CHECK-LABEL: func.func @cross_entropy(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8x32xf32>, %[[ARG1:.+]]: tensor<8xi64>
// CHECK-NEXT: %[[SUM:.+]], %[[COUNT:.+]], %[[LSE:.+]] = smp.cross_entropy %[[ARG0]], %[[ARG1]] ignore -100 : tensor<8x32xf32>, tensor<8xi64>
func.func @cross_entropy(%x: tensor<8x32xf32>, %y: tensor<8xi64>) {
  %sum, %count, %lse = smp.cross_entropy %x, %y ignore -100 : tensor<8x32xf32>, tensor<8xi64>
  return
}

// CHECK-LABEL: func.func @cross_entropy_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<f32>, %[[ARG1:.+]]: tensor<8x32xf32>, %[[ARG2:.+]]: tensor<8xi64>, %[[ARG3:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.cross_entropy_grad %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]] ignore -100 : tensor<8x32xf32>, tensor<8xi64>, tensor<8xf32>, tensor<f32>
func.func @cross_entropy_grad(%c: tensor<f32>, %x: tensor<8x32xf32>, %y: tensor<8xi64>, %lse: tensor<8xf32>) {
  %r = smp.cross_entropy_grad %c, %x, %y, %lse ignore -100
      : tensor<8x32xf32>, tensor<8xi64>, tensor<8xf32>, tensor<f32>
  return
}

// CHECK-LABEL: func.func @label_count(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.label_count %[[ARG0]] ignore -100 : tensor<8xi64>
func.func @label_count(%y: tensor<8xi64>) {
  %r = smp.label_count %y ignore -100 : tensor<8xi64>
  return
}

// CHECK-LABEL: func.func @mean_loss(
// CHECK-SAME: %[[ARG0:.+]]: tensor<f32>, %[[ARG1:.+]]: tensor<i64>
// CHECK-NEXT: %[[V0:.+]] = smp.mean_loss "loss" %[[ARG0]] by %[[ARG1]] : tensor<f32>
func.func @mean_loss(%s: tensor<f32>, %n: tensor<i64>) {
  %r = smp.mean_loss "loss" %s by %n : tensor<f32>
  return
}
