// Rows are weighed only where each decides its own places of the loss: here a
// softmax goes over them, a sum over them comes back, or they meet in products.
// RUN: smp-opt %s --split-input-file --smp-partition=partitions=1 --smp-stage 2>/dev/null | FileCheck %s --implicit-check-not=row_weight

// CHECK-LABEL: func.func @chunk0_forward
module attributes {smp.rows = 2 : i64} {
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %t = smp.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %s = smp.softmax %t : tensor<3x2xf32>
  %loss = smp.reduce_sum %s [0, 1] : tensor<3x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

// CHECK-LABEL: func.func @chunk0_forward
module attributes {smp.rows = 2 : i64} {
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %m = smp.reduce_sum %x [0] : tensor<2x3xf32> -> tensor<3xf32>
  %e = smp.expand %m [1] : tensor<3xf32> -> tensor<2x3xf32>
  %d = smp.sub %x, %e : tensor<2x3xf32>
  %loss = smp.reduce_sum %d [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
}

// -----

// CHECK-LABEL: func.func @chunk0_forward
module attributes {smp.rows = 2 : i64} {
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}, %l: tensor<2xi64> {smp.name = "y", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %g = smp.batch_matmul %x, %x T : tensor<2x3xf32>, tensor<2x3xf32>
  %p = smp.batch_matmul %g, %x : tensor<2x2xf32>, tensor<2x3xf32>
  %s, %n, %lse = smp.cross_entropy %p, %l ignore -100 : tensor<2x3xf32>, tensor<2xi64>
  %loss = smp.mean_loss "loss" %s by %n : tensor<f32>
  return %loss : tensor<f32>
}
}
