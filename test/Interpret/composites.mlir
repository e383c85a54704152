// RUN: smp-interpret %s --precision=f64 | FileCheck %s

// Numbers from PyTorch in float64.
// CHECK-DAG: linear: f32 [2, 2] = 5 11 -1 -1
// CHECK-DAG: normed: f32 [2, 2] = -0.999995 0.999995 0.9999988 -0.9999988
// CHECK-DAG: softmax: f32 [2, 2] = 0.2689414 0.7310586 0.9525741 0.04742587
// CHECK-DAG: gelu: f32 [2, 2] = 0.8413447 1.9545 0.8413447 -0.04550026
// CHECK-DAG: loss: f32 [] = 1.045901
// CHECK-DAG: count: i64 [] = 1
// CHECK-DAG: attended: f32 [1, 1, 2, 2] = 1 2 1 -0.957475
module {
  func.func @train() -> (tensor<2x2xf32> {smp.name = "linear"},
                         tensor<2x2xf32> {smp.name = "normed"},
                         tensor<2x2xf32> {smp.name = "softmax"},
                         tensor<2x2xf32> {smp.name = "gelu"},
                         tensor<f32> {smp.name = "loss"},
                         tensor<i64> {smp.name = "count"},
                         tensor<1x1x2x2xf32> {smp.name = "attended"}) {
    %x = smp.constant dense<[[1.0, 2.0], [1.0, -1.0]]> : tensor<2x2xf32>
    %w = smp.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %linear = smp.linear %x, %w : tensor<2x2xf32>, tensor<2x2xf32>
    %normed, %mean, %rstd = smp.layer_norm %x epsilon 2.5e-06 : tensor<2x2xf32>
    %scale = smp.constant dense<[[1.0, 1.0], [1.5, 1.5]]> : tensor<2x2xf32>
    %scaled = smp.mul %x, %scale : tensor<2x2xf32>
    %softmax = smp.softmax %scaled : tensor<2x2xf32>
    %limit = smp.constant dense<[[1.0, 2.0], [1.0, -2.0]]> : tensor<2x2xf32>
    %gelu = smp.gelu %limit : tensor<2x2xf32>
    %labels = smp.constant dense<[0, -100]> : tensor<2xi64>
    %half = smp.fill 0.613 : tensor<2x2xf32>
    %logits = smp.mul %x, %half : tensor<2x2xf32>
    %loss, %count, %lse = smp.cross_entropy %logits, %labels ignore -100 : tensor<2x2xf32>, tensor<2xi64>
    %q = smp.reshape %x : tensor<2x2xf32> -> tensor<1x1x2x2xf32>
    %attended, %scores = smp.attention %q, %q, %q <causal> scale 1.414 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
    return %linear, %normed, %softmax, %gelu, %loss, %count, %attended : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>, tensor<i64>, tensor<1x1x2x2xf32>
  }
}
