// RUN: smp-interpret %s --precision=f64 | FileCheck %s

// CHECK-DAG: product: f32 [1, 2, 2] = 18 39 -2 -3
// CHECK-DAG: cluster: f32 [2] = 9 16
// CHECK-DAG: weights: f32 [1, 1, 1, 2] = 0.2689414 0.7310586
// CHECK-DAG: lse: f32 [1, 1, 1] = 1.313262
// CHECK-DAG: scores_grad: f32 [1, 1, 1, 2] = 0.3932239 -0.3932239
// CHECK-DAG: losses: f32 [2] = 0.3132617 0
module {
  func.func @train() -> (tensor<1x2x2xf32> {smp.name = "product"},
                         tensor<2xf32> {smp.name = "cluster"},
                         tensor<1x1x1x2xf32> {smp.name = "weights"},
                         tensor<1x1x1xf32> {smp.name = "lse"},
                         tensor<1x1x1x2xf32> {smp.name = "scores_grad"},
                         tensor<2xf32> {smp.name = "losses"}) {
    // Two batch entries of the left operand share one of the right, and are
    // summed: [1 2] W' + [3 4] W' of the first row, then of the second.
    %x = smp.constant dense<[[[1.0, 2.0], [1.0, -1.0]], [[3.0, 4.0], [-1.0, 0.0]]]> : tensor<2x2x2xf32>
    %w = smp.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
    %start = smp.constant dense<[[[2.0, 3.0], [0.0, 1.0]]]> : tensor<1x2x2xf32>
    %product = smp.product %x, %w into %start : tensor<1x2x2xf32> transposed false, true batch 2, 2, 2 sizes 2, 2, 2 : tensor<2x2x2xf32>, tensor<1x2x2xf32> -> tensor<1x2x2xf32>
    %a = smp.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = smp.constant dense<[2.0, 2.0]> : tensor<2xf32>
    %cluster = smp.cluster(%a, %b) in_place [0] {
    ^bb0(%p: tensor<2xf32>, %q: tensor<2xf32>):
      %s = smp.add %p, %q : tensor<2xf32>
      %t = smp.mul %s, %s : tensor<2xf32>
      smp.yield %t : tensor<2xf32>
    } : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %scores = smp.constant dense<[[[[0.0, 2.0]]]]> : tensor<1x1x1x2xf32>
    %weights, %lse = smp.attention_softmax %scores <none> scale 5.0e-01 : tensor<1x1x1x2xf32> -> tensor<1x1x1xf32>
    %dw = smp.constant dense<[[[[4.0, 0.0]]]]> : tensor<1x1x1x2xf32>
    %o = smp.reshape %weights : tensor<1x1x1x2xf32> -> tensor<1x1x1x2xf32>
    %again, %scores_grad = smp.attention_softmax_grad %scores, %dw, %o, %dw, %lse <none> scale 5.0e-01 : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1xf32>
    %logits = smp.constant dense<[[0.0, 1.0], [5.0, 0.0]]> : tensor<2x2xf32>
    %labels = smp.constant dense<[1, -100]> : tensor<2xi64>
    %losses, %rows = smp.cross_entropy_rows %logits, %labels ignore -100 : tensor<2x2xf32>, tensor<2xi64> -> tensor<2xf32>
    return %product, %cluster, %again, %lse, %scores_grad, %losses : tensor<1x2x2xf32>, tensor<2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1xf32>, tensor<1x1x1x2xf32>, tensor<2xf32>
  }
}
