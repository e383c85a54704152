// RUN: smp-opt %s --smp-differentiate | FileCheck %s

// The embedding reads the token ids again; tanh keeps its result.
// CHECK-LABEL: func.func @chunk0_forward
// CHECK:         %[[Y:.*]] = smp.tanh
// CHECK:         return %[[Y]], %[[Y]]
// CHECK-LABEL: func.func @chunk0_backward(
// CHECK-SAME:      %[[C:.*]]: tensor<2x4xf32> {smp.binding = #smp.binding<cotangent, "v0">}
// CHECK-SAME:      %[[G:.*]]: tensor<16x4xf32> {smp.binding = #smp.binding<gradient, "embed">}
// CHECK-SAME:      %[[Y:.*]]: tensor<2x4xf32> {smp.binding = #smp.binding<saved, "0">}
// CHECK-SAME:      %[[IDS:.*]]: tensor<2xi64> {smp.binding = #smp.binding<input, "ids">}
// CHECK:         %[[E:.*]] = smp.embedding_grad %{{.*}}, %[[IDS]] rows 16
// CHECK:         %[[SUM:.*]] = smp.add %[[G]], %[[E]]
// CHECK:         return %[[SUM]]

// A relayed value starts from the cotangent of the later chunk and adds its own
// uses, the last one first; frozen parameters get no gradient.
// CHECK-LABEL: func.func @chunk1_backward(
// CHECK-SAME:      %[[C0:.*]]: tensor<2x4xf32> {smp.binding = #smp.binding<cotangent, "v0">}
// CHECK-SAME:      %[[C1:.*]]: tensor<2x4xf32> {smp.binding = #smp.binding<cotangent, "v1">}
// CHECK-NOT:       gradient, "fixed"
// CHECK:         %[[A:.*]] = smp.add %[[C0]], %[[C1]]
// CHECK:         smp.expand
// CHECK:         %[[L:.*]] = smp.linear %{{.*}}, %{{.*}} transposed
// CHECK:         %[[B:.*]] = smp.add %[[A]], %[[L]]
// CHECK:         return %[[B]]

// The loss divides by the count of the step and accumulates.
// CHECK-LABEL: func.func @chunk2_forward
// CHECK-SAME:      %[[COUNT:[a-z0-9]+]]: tensor<i64> {smp.binding = #smp.binding<count, "loss">}
// CHECK-SAME:      %[[LOSS:[a-z0-9]+]]: tensor<f32> {smp.binding = #smp.binding<loss, "loss">}
// CHECK:         %[[MEAN:.*]] = smp.mean_loss "loss" %{{.*}} by %[[COUNT]]
// CHECK:         smp.add %[[LOSS]], %[[MEAN]]
// CHECK-LABEL: func.func @chunk2_backward
// CHECK:         smp.mean_loss "loss" %{{.*}} by
// CHECK:         smp.cross_entropy_grad

// CHECK: smp.chunk @chunk2 2 on 0 forward @chunk2_forward backward @chunk2_backward count @chunk2_count

// CHECK-LABEL: func.func @rank0_begin_step
// CHECK:         smp.reshard %{{.*}} from <rdp = partial> to <> because "count of 'loss' over the replicas"
// CHECK-COUNT-3: smp.fill 0.000000e+00

// Names of a tied parameter are summed over replicas one by one, then added.
// CHECK-LABEL: func.func @rank0_update
// CHECK:         %[[G1:.*]] = smp.reshard %{{.*}} from <rdp = partial> to <> because "gradient of 'embed' over the replicas"
// CHECK:         %[[G2:.*]] = smp.reshard %{{.*}} from <rdp = partial> to <> because "gradient of 'head' over the replicas"
// CHECK:         %[[G:.*]] = smp.add %[[G1]], %[[G2]]
// CHECK:         %[[N:.*]] = smp.sum_of_squares %[[G]]
// CHECK:         %[[Z:.*]] = smp.fill 0.000000e+00 : tensor<1xf64>
// CHECK:         smp.concat %[[N]], %[[Z]] dim 0
// CHECK:         smp.reshard %{{.*}} from <pp = partial> to <>
// Where the norm is not finite, the factor is no number.
// CHECK:         %[[S:.*]] = smp.reduce_sum
// CHECK:         %[[O:.*]] = smp.mul %[[S]], %{{.*}}
// CHECK:         %[[ONE:.*]] = smp.add %[[O]], %{{.*}}
// CHECK:         %[[C:.*]] = smp.clip_factor %[[S]] max 1.000000e+00
// CHECK:         %[[F:.*]] = smp.mul %[[C]], %[[ONE]]
// CHECK:         smp.sgd %{{.*}}, %[[G]] buffer %{{.*}} scale %[[F]] momentum 9.000000e-01
// CHECK: smp.rank @rank0 0 begin_step @rank0_begin_step update @rank0_update

module attributes {smp.optimizer = {name = "sgd", momentum = 9.0e-01, gradient_clipping = 1.0}} {
  smp.parameter @embed : tensor<16x4xf32> aliases ["head"]
  smp.parameter @scale : tensor<4xf32>
  smp.parameter @fixed : tensor<4x4xf32> frozen

  func.func @chunk0_forward(%table: tensor<16x4xf32> {smp.binding = #smp.binding<parameter, "embed">},
                            %ids: tensor<2xi64> {smp.binding = #smp.binding<input, "ids">})
      -> (tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">}) {
    %0 = smp.embedding %table, %ids : tensor<16x4xf32>, tensor<2xi64>
    %1 = smp.tanh %0 : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func @chunk1_forward(%v: tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">},
                            %scale: tensor<4xf32> {smp.binding = #smp.binding<parameter, "scale">},
                            %fixed: tensor<4x4xf32> {smp.binding = #smp.binding<parameter, "fixed">})
      -> (tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">}, tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v1">}) {
    %0 = smp.linear %v, %fixed : tensor<2x4xf32>, tensor<4x4xf32>
    %1 = smp.expand %scale [1] : tensor<4xf32> -> tensor<2x4xf32>
    %2 = smp.mul %0, %1 : tensor<2x4xf32>
    %3 = smp.add %2, %v : tensor<2x4xf32>
    return %v, %3 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func @chunk2_forward(%v: tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">},
                            %w: tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v1">},
                            %head: tensor<16x4xf32> {smp.binding = #smp.binding<parameter, "head">},
                            %labels: tensor<2xi64> {smp.binding = #smp.binding<input, "labels">})
      -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    %0 = smp.add %v, %w : tensor<2x4xf32>
    %1 = smp.linear %0, %head : tensor<2x4xf32>, tensor<16x4xf32>
    %sum, %count, %lse = smp.cross_entropy %1, %labels ignore -100 : tensor<2x16xf32>, tensor<2xi64>
    %2 = smp.mean_loss "loss" %sum by %count : tensor<f32>
    return %2 : tensor<f32>
  }
  func.func @chunk2_count(%labels: tensor<2xi64> {smp.binding = #smp.binding<input, "labels">},
                          %count: tensor<i64> {smp.binding = #smp.binding<count, "loss">})
      -> (tensor<i64> {smp.binding = #smp.binding<count, "loss">}) {
    %0 = smp.label_count %labels ignore -100 : tensor<2xi64>
    %1 = smp.add %count, %0 : tensor<i64>
    return %1 : tensor<i64>
  }
  smp.chunk @chunk0 0 on 0 forward @chunk0_forward
  smp.chunk @chunk1 1 on 1 forward @chunk1_forward
  smp.chunk @chunk2 2 on 0 forward @chunk2_forward count @chunk2_count
}
