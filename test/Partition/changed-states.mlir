// RUN: smp-opt %s --split-input-file --smp-partition=partitions=2 --smp-stage --smp-differentiate | FileCheck %s

// Running averages are read and changed where their norm is; evaluation uses
// them instead of the batch.
// CHECK-LABEL: func.func @chunk1_forward
// CHECK-SAME:  %[[M:[a-z0-9]+]]: tensor<4xf32> {smp.binding = #smp.binding<state, "n.mean">}
// CHECK-SAME:  %[[V:[a-z0-9]+]]: tensor<4xf32> {smp.binding = #smp.binding<state, "n.var">}
// CHECK-SAME:  tensor<4xf32> {smp.binding = #smp.binding<state, "n.mean">}
// CHECK:       %{{.*}}, %{{.*}}, %{{.*}}, %[[M1:.*]], %[[V1:.*]] = smp.batch_norm %{{.*}} running %[[M]], %[[V]]
// CHECK:       return {{.*}}%[[M1]], %[[V1]]
// The backward program reads the batch's statistics, not the running ones.
// CHECK-LABEL: func.func @chunk1_backward
// CHECK-NOT:   #smp.binding<state
// CHECK:       smp.batch_norm_grad
// CHECK-LABEL: func.func @chunk1_evaluate
// CHECK-SAME:  %[[M:[a-z0-9]+]]: tensor<4xf32> {smp.binding = #smp.binding<state, "n.mean">}
// CHECK-NOT:   -> {{.*}}#smp.binding<state
// CHECK:       smp.batch_norm_inference %{{.*}} running %[[M]], %
// CHECK-LABEL: func.func @chunk1_predict
// CHECK:       smp.batch_norm_inference

// The update makes them the mean over the replicas, in one reduction that
// counts the replicas too; integers count alike everywhere.
// CHECK-LABEL: func.func @rank1_update
// CHECK:       %[[ONE:.*]] = smp.fill 1.000000e+00 : tensor<1xf32>
// CHECK:       %[[ALL:.*]] = smp.concat %{{.*}}, %{{.*}}, %[[ONE]] dim 0 : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<9xf32>
// CHECK:       %[[SUM:.*]] = smp.reshard %[[ALL]] {{.*}}rdp = partial{{.*}}states over the replicas
// CHECK:       %[[N:.*]] = smp.slice %[[SUM]]
// CHECK:       smp.div

module attributes {smp.rows = 2 : i64} {
smp.parameter @"a.weight" : tensor<4x3xf32>
smp.state @"n.mean" : tensor<4xf32> = dense<0.0> : tensor<4xf32>
smp.state @"n.var" : tensor<4xf32> = dense<1.0> : tensor<4xf32>
smp.state @"n.count" : tensor<i64> = dense<0> : tensor<i64>
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}) -> (tensor<4xf32> {smp.name = "n.mean", smp.role = "state"}, tensor<4xf32> {smp.name = "n.var", smp.role = "state"}, tensor<i64> {smp.name = "n.count", smp.role = "state"}, tensor<f32> {smp.name = "loss", smp.role = "loss"}, tensor<2x4xf32> {smp.name = "y", smp.role = "output"}) {
  %w = smp.get_parameter @"a.weight" as "a.weight" : tensor<4x3xf32>
  %y = smp.linear %x, %w {scope = "a"} : tensor<2x3xf32>, tensor<4x3xf32>
  %m = smp.get_state @"n.mean" : tensor<4xf32>
  %v = smp.get_state @"n.var" : tensor<4xf32>
  %c = smp.get_state @"n.count" : tensor<i64>
  %one = smp.fill 1.0 : tensor<i64>
  %c1 = smp.add %c, %one {scope = "n"} : tensor<i64>
  %n, %mean, %rstd, %m1, %v1 = smp.batch_norm %y running %m, %v momentum 0.1 epsilon 1.0e-05 {scope = "n"} : tensor<2x4xf32>, tensor<4xf32>
  %s = smp.reduce_sum %n [0, 1] {scope = "n"} : tensor<2x4xf32> -> tensor<f32>
  %k = smp.fill 8.0 : tensor<i64>
  %loss = smp.mean_loss "loss" %s by %k {scope = "n"} : tensor<f32>
  return %m1, %v1, %c1, %loss, %n : tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<f32>, tensor<2x4xf32>
}
}

// -----

// A norm that is called twice is not cut between its calls: only the first cut
// is left.
// CHECK-LABEL: func.func @chunk1_forward
// CHECK:       smp.batch_norm
// CHECK:       smp.batch_norm

module attributes {smp.rows = 2 : i64} {
smp.parameter @"a.weight" : tensor<4x3xf32>
smp.state @"n.mean" : tensor<4xf32> = dense<0.0> : tensor<4xf32>
smp.state @"n.var" : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}) -> (tensor<4xf32> {smp.name = "n.mean", smp.role = "state"}, tensor<4xf32> {smp.name = "n.var", smp.role = "state"}, tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %w = smp.get_parameter @"a.weight" as "a.weight" : tensor<4x3xf32>
  %y = smp.linear %x, %w {scope = "a"} : tensor<2x3xf32>, tensor<4x3xf32>
  %m = smp.get_state @"n.mean" : tensor<4xf32>
  %v = smp.get_state @"n.var" : tensor<4xf32>
  %n, %mean, %rstd, %m1, %v1 = smp.batch_norm %y running %m, %v momentum 0.1 epsilon 1.0e-05 {scope = "n"} : tensor<2x4xf32>, tensor<4xf32>
  %t = smp.tanh %n {scope = "t"} : tensor<2x4xf32>
  %o, %mean2, %rstd2, %m2, %v2 = smp.batch_norm %t running %m1, %v1 momentum 0.1 epsilon 1.0e-05 {scope = "n"} : tensor<2x4xf32>, tensor<4xf32>
  %s = smp.reduce_sum %o [0, 1] {scope = "n"} : tensor<2x4xf32> -> tensor<f32>
  %k = smp.fill 8.0 : tensor<i64>
  %loss = smp.mean_loss "loss" %s by %k {scope = "n"} : tensor<f32>
  return %m2, %v2, %loss : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
}
