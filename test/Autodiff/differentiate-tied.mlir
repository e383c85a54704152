// RUN: smp-opt %s --smp-differentiate | FileCheck %s
// RUN: smp-opt %s --smp-differentiate --smp-distribute | FileCheck %s --check-prefix=COLLECTIVE

// A parameter with names on two stages: each holder gets the gradients of all
// names, in the order of the names, and takes the same step. A count is made
// where the labels are and used by another stage.

module attributes {smp.pp = 2 : i64} {
  smp.parameter @a : tensor<4x4xf32> aliases ["b"]

  func.func @chunk0_forward(%b: tensor<4x4xf32> {smp.binding = #smp.binding<parameter, "b">},
                            %x: tensor<2x4xf32> {smp.binding = #smp.binding<input, "x">})
      -> (tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">}) {
    %0 = smp.linear %x, %b : tensor<2x4xf32>, tensor<4x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func @chunk0_count(%n: tensor<i64> {smp.binding = #smp.binding<count, "loss">})
      -> (tensor<i64> {smp.binding = #smp.binding<count, "loss">}) {
    %0 = smp.fill 8.0 : tensor<i64>
    %1 = smp.add %n, %0 : tensor<i64>
    return %1 : tensor<i64>
  }
  func.func @chunk1_forward(%v: tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">},
                            %a: tensor<4x4xf32> {smp.binding = #smp.binding<parameter, "a">})
      -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    %0 = smp.linear %v, %a : tensor<2x4xf32>, tensor<4x4xf32>
    %1 = smp.reduce_sum %0 [0, 1] : tensor<2x4xf32> -> tensor<f32>
    %n = smp.fill 8.0 : tensor<i64>
    %2 = smp.mean_loss "loss" %1 by %n : tensor<f32>
    return %2 : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @chunk0_forward count @chunk0_count
  smp.chunk @chunk1 1 on 1 forward @chunk1_forward
}

// CHECK-LABEL: func.func @rank0_begin_step
// CHECK:         %[[N:.*]] = smp.reshard %{{.*}} from <rdp = partial> to <>
// CHECK:         smp.reshard %[[N]] from <pp{0, 1} = owned(0)> to <> because "count of 'loss' for the other stages"

// CHECK-LABEL: func.func @rank0_update
// CHECK-SAME:      %[[GB:.*]]: tensor<4x4xf32> {smp.binding = #smp.binding<gradient, "b">}
// CHECK:         %[[Z:.*]] = smp.fill 0.000000e+00 : tensor<4x4xf32>
// CHECK:         %[[A:.*]] = smp.reshard %[[Z]] from <pp{0, 1} = owned(1)> to <>
// CHECK:         %[[S:.*]] = smp.reshard %[[GB]] from <rdp = partial> to <>
// CHECK:         %[[B:.*]] = smp.reshard %[[S]] from <pp{0, 1} = owned(0)> to <>
// CHECK:         %[[G:.*]] = smp.add %[[A]], %[[B]]
// CHECK:         smp.sum_of_squares %[[G]]
// CHECK-NOT:     smp.clip_factor
// CHECK:         smp.adamw %{{.*}}, %[[G]]
// CHECK:         smp.fill 0.000000e+00 : tensor<i64>

// CHECK-LABEL: func.func @rank1_begin_step
// CHECK:         %[[Z:.*]] = smp.fill 0.000000e+00 : tensor<i64>
// CHECK:         smp.reshard %[[Z]] from <pp{0, 1} = owned(0)> to <>

// CHECK-LABEL: func.func @rank1_update
// CHECK:         %[[A:.*]] = smp.reshard %{{.*}} from <pp{0, 1} = owned(1)> to <>
// CHECK:         %[[Z:.*]] = smp.fill 0.000000e+00 : tensor<4x4xf32>
// CHECK:         %[[B:.*]] = smp.reshard %[[Z]] from <pp{0, 1} = owned(0)> to <>
// CHECK:         %[[G:.*]] = smp.add %[[A]], %[[B]]
// CHECK-NOT:     smp.sum_of_squares
// CHECK:         smp.adamw %{{.*}}, %[[G]]

// COLLECTIVE-LABEL: func.func @rank1_update
// COLLECTIVE:         %[[A:.*]] = smp.all_reduce %{{.*}} over <rdp>
// COLLECTIVE:         smp.broadcast %[[A]] over <pp{0, 1}> root 1
// COLLECTIVE:         smp.broadcast %{{.*}} over <pp{0, 1}> root 0
// COLLECTIVE:         smp.all_reduce %{{.*}} over <pp> because "norm of the gradients"
