// What is computed of weights alone at the end of a loss lies on the weights'
// stage, the numbers of several stages on the last of these, and what scales
// them with the share of a batch on the loss's.
// RUN: smp-opt %s --smp-partition=partitions=3 | FileCheck %s
// RUN: smp-opt %s --smp-partition=partitions=3 --smp-stage | FileCheck %s --check-prefix=STAGE

// CHECK:      smp.linear %{{.*}} smp.chunk = 0
// CHECK:      smp.linear %{{.*}} smp.chunk = 1
// CHECK:      smp.linear %{{.*}} smp.chunk = 2
// CHECK:      smp.mul %[[A:.*]], %[[A]] {smp.chunk = 0
// CHECK-NEXT: smp.reduce_sum {{.*}}smp.chunk = 0
// CHECK-NEXT: smp.mul %[[B:.*]], %[[B]] {smp.chunk = 1
// CHECK-NEXT: smp.reduce_sum {{.*}}smp.chunk = 1
// CHECK-NEXT: smp.add {{.*}}smp.chunk = 1
// CHECK:      smp.mean_loss "share" {{.*}}smp.chunk = 2
// CHECK-NEXT: smp.mul {{.*}}smp.chunk = 2

// STAGE-LABEL: func.func @chunk0_forward
// STAGE-SAME:  -> (tensor<2x3xf32> {smp.binding = #smp.binding<activation, "v0">}, tensor<f32> {smp.binding = #smp.binding<activation, "v2">})
// STAGE-LABEL: func.func @chunk1_forward
// STAGE-SAME:  -> (tensor<2x3xf32> {smp.binding = #smp.binding<activation, "v1">}, tensor<f32> {smp.binding = #smp.binding<activation, "v3">})
// Nobody reads them to predict.
// STAGE-LABEL: func.func @chunk0_predict
// STAGE-NOT:   smp.reduce_sum
// STAGE-LABEL: func.func @chunk1_predict
module attributes {smp.rows = 2 : i64} {
smp.parameter @"a.weight" : tensor<3x3xf32>
smp.parameter @"b.weight" : tensor<3x3xf32>
smp.parameter @"c.weight" : tensor<5x3xf32>
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}, %l: tensor<2xi64> {smp.name = "y", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}, tensor<2x5xf32> {smp.name = "z", smp.role = "output"}) {
  %a = smp.get_parameter @"a.weight" as "a.weight" : tensor<3x3xf32>
  %h = smp.linear %x, %a {scope = "a"} : tensor<2x3xf32>, tensor<3x3xf32>
  %b = smp.get_parameter @"b.weight" as "b.weight" : tensor<3x3xf32>
  %k = smp.linear %h, %b {scope = "b"} : tensor<2x3xf32>, tensor<3x3xf32>
  %c = smp.get_parameter @"c.weight" as "c.weight" : tensor<5x3xf32>
  %z = smp.linear %k, %c {scope = "c"} : tensor<2x3xf32>, tensor<5x3xf32>
  %s, %n, %lse = smp.cross_entropy %z, %l ignore -100 : tensor<2x5xf32>, tensor<2xi64>
  %loss = smp.mean_loss "loss" %s by %n : tensor<f32>
  %aa = smp.mul %a, %a : tensor<3x3xf32>
  %as = smp.reduce_sum %aa [0, 1] : tensor<3x3xf32> -> tensor<f32>
  %bb = smp.mul %b, %b : tensor<3x3xf32>
  %bs = smp.reduce_sum %bb [0, 1] : tensor<3x3xf32> -> tensor<f32>
  %penalty = smp.add %as, %bs : tensor<f32>
  %one = smp.fill 2.0 : tensor<f32>
  %two = smp.fill 2.0 : tensor<i64>
  %share = smp.mean_loss "share" %one by %two : tensor<f32>
  %part = smp.mul %penalty, %share : tensor<f32>
  %whole = smp.add %loss, %part : tensor<f32>
  return %whole, %z : tensor<f32>, tensor<2x5xf32>
}
}
