// RUN: not smp-opt %s --smp-stage 2>&1 | FileCheck %s

// A norm cut by hand between its calls: the first one would read averages that
// the other rank has changed.
// CHECK: error: expects state 'n.mean', which the model changes, in one chunk, got it in chunks 1 and 0

module attributes {smp.chunks = array<i64: 0, 1>, smp.pp = 2 : i64, smp.rows = 2 : i64} {
smp.state @"n.mean" : tensor<4xf32> = dense<0.0> : tensor<4xf32>
smp.state @"n.var" : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @train(%x: tensor<2x4xf32> {smp.name = "x", smp.role = "input"}) -> (tensor<4xf32> {smp.name = "n.mean", smp.role = "state"}, tensor<4xf32> {smp.name = "n.var", smp.role = "state"}, tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %m = smp.get_state @"n.mean" {smp.chunk = 0 : i64} : tensor<4xf32>
  %v = smp.get_state @"n.var" {smp.chunk = 0 : i64} : tensor<4xf32>
  %n, %mean, %rstd, %m1, %v1 = smp.batch_norm %x running %m, %v momentum 0.1 epsilon 1.0e-05 {smp.chunk = 0 : i64} : tensor<2x4xf32>, tensor<4xf32>
  %o, %mean2, %rstd2, %m2, %v2 = smp.batch_norm %n running %m1, %v1 momentum 0.1 epsilon 1.0e-05 {smp.chunk = 1 : i64} : tensor<2x4xf32>, tensor<4xf32>
  %s = smp.reduce_sum %o [0, 1] {smp.chunk = 1 : i64} : tensor<2x4xf32> -> tensor<f32>
  %k = smp.fill 8.0 {smp.chunk = 1 : i64} : tensor<i64>
  %loss = smp.mean_loss "loss" %s by %k {smp.chunk = 1 : i64} : tensor<f32>
  return %m2, %v2, %loss : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
}
