// RUN: smp-opt %s --smp-differentiate --split-input-file | FileCheck %s

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
