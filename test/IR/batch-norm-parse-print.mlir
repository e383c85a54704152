// RUN: smp-opt %s | smp-opt | FileCheck %s

// Batch norms: what is printed is what was parsed.

// CHECK-LABEL: func.func @batch_norm(
// CHECK-SAME: %[[X:.+]]: tensor<?x8x5x5xf32>, %[[W:.+]]: tensor<8xf32>, %[[M:.+]]: tensor<8xf32>, %[[V:.+]]: tensor<8xf32>
// CHECK-NEXT: %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} = smp.batch_norm %[[X]] weight %[[W]] : tensor<8xf32> bias %[[W]] : tensor<8xf32> running %[[M]], %[[V]] momentum 1.000000e-01 epsilon 1.000000e-05 : tensor<?x8x5x5xf32>, tensor<8xf32>
// CHECK-NEXT: smp.batch_norm %[[X]] running %[[M]], %[[V]] momentum 1.000000e-01 epsilon 1.000000e-05 : tensor<?x8x5x5xf32>, tensor<8xf32>
func.func @batch_norm(%x: tensor<?x8x5x5xf32>, %w: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) {
  %r, %mean, %rstd, %m1, %v1 = smp.batch_norm %x weight %w : tensor<8xf32> bias %w : tensor<8xf32> running %m, %v momentum 0.1 epsilon 1.0e-05 : tensor<?x8x5x5xf32>, tensor<8xf32>
  %s, %mean2, %rstd2, %m2, %v2 = smp.batch_norm %x running %m, %v momentum 0.1 epsilon 1.0e-05 : tensor<?x8x5x5xf32>, tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @batch_norm_grad(
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[W:.+]]: tensor<8xf32>
// CHECK-NEXT: smp.batch_norm_grad %[[X]], %[[X]] weight %[[W]] : tensor<8xf32> mean %[[W]] rstd %[[W]] : tensor<4x8xf32>, tensor<8xf32>
// CHECK-NEXT: smp.batch_norm_grad %[[X]], %[[X]] mean %[[W]] rstd %[[W]] : tensor<4x8xf32>, tensor<8xf32>
func.func @batch_norm_grad(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  %0, %1, %2 = smp.batch_norm_grad %x, %x weight %w : tensor<8xf32> mean %w rstd %w : tensor<4x8xf32>, tensor<8xf32>
  %3, %4, %5 = smp.batch_norm_grad %x, %x mean %w rstd %w : tensor<4x8xf32>, tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @batch_norm_inference(
// CHECK-SAME: %[[X:.+]]: tensor<1x8xf32>, %[[W:.+]]: tensor<8xf32>
// CHECK-NEXT: smp.batch_norm_inference %[[X]] weight %[[W]] : tensor<8xf32> bias %[[W]] : tensor<8xf32> running %[[W]], %[[W]] epsilon 1.000000e-05 : tensor<1x8xf32>, tensor<8xf32>
// CHECK-NEXT: smp.batch_norm_inference %[[X]] running %[[W]], %[[W]] epsilon 1.000000e-05 : tensor<1x8xf32>, tensor<8xf32>
func.func @batch_norm_inference(%x: tensor<1x8xf32>, %w: tensor<8xf32>) {
  %0 = smp.batch_norm_inference %x weight %w : tensor<8xf32> bias %w : tensor<8xf32> running %w, %w epsilon 1.0e-05 : tensor<1x8xf32>, tensor<8xf32>
  %1 = smp.batch_norm_inference %x running %w, %w epsilon 1.0e-05 : tensor<1x8xf32>, tensor<8xf32>
  return
}
