// RUN: smp-opt %s | smp-opt | FileCheck %s

// What lowering makes of model ops: what is printed is what was parsed.

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x16xf32>, %[[ARG1:.+]]: tensor<4x16xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.product %[[ARG0]], %[[ARG1]] transposed false, true batch 1, 1, 1 sizes 8, 4, 16 : tensor<2x4x16xf32>, tensor<4x16xf32> -> tensor<2x4x4xf32>
func.func @product(%x: tensor<2x4x16xf32>, %w: tensor<4x16xf32>) {
  %r = smp.product %x, %w transposed false, true batch 1, 1, 1 sizes 8, 4, 16
      : tensor<2x4x16xf32>, tensor<4x16xf32> -> tensor<2x4x4xf32>
  return
}

// CHECK-LABEL: func.func @product_into(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8x3xf32>, %[[ARG1:.+]]: tensor<8x4xf32>, %[[ARG2:.+]]: tensor<4x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.product %[[ARG1]], %[[ARG0]] into %[[ARG2]] : tensor<4x3xf32> transposed true, false batch 1, 1, 1 sizes 4, 3, 8 : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
func.func @product_into(%x: tensor<8x3xf32>, %c: tensor<8x4xf32>, %acc: tensor<4x3xf32>) {
  %r = smp.product %c, %x into %acc : tensor<4x3xf32> transposed true, false batch 1, 1, 1 sizes 4, 3, 8 : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: func.func @attention_softmax(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x8xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[LSE:.+]] = smp.attention_softmax %[[ARG0]] <causal> scale 2.500000e-01 : tensor<2x4x8x8xf32> -> tensor<2x4x8xf32>
func.func @attention_softmax(%s: tensor<2x4x8x8xf32>) {
  %p, %lse = smp.attention_softmax %s <causal> scale 0.25 : tensor<2x4x8x8xf32> -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @attention_softmax_with_bias_and_dropout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x8xf32>, %[[ARG1:.+]]: tensor<2x1x8x8xi1>
// CHECK-NEXT: %[[RESULT:.+]], %[[LSE:.+]] = smp.attention_softmax %[[ARG0]] bias %[[ARG1]] : tensor<2x1x8x8xi1> <none> scale 1.000000e+00 dropout 1.000000e-01 site 7 : tensor<2x4x8x8xf32> -> tensor<2x4x8xf32>
func.func @attention_softmax_with_bias_and_dropout(%s: tensor<2x4x8x8xf32>, %b: tensor<2x1x8x8xi1>) {
  %p, %lse = smp.attention_softmax %s bias %b : tensor<2x1x8x8xi1> <none> scale 1.0 dropout 0.1 site 7 : tensor<2x4x8x8xf32> -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @attention_softmax_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x8xf32>, %[[ARG1:.+]]: tensor<2x4x8x8xf32>, %[[ARG2:.+]]: tensor<2x4x8x16xf32>, %[[ARG3:.+]]: tensor<2x4x8x16xf32>, %[[ARG4:.+]]: tensor<2x4x8xf32>
// CHECK-NEXT: %[[WEIGHTS:.+]], %[[SCORES_GRAD:.+]] = smp.attention_softmax_grad %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]], %[[ARG4]] <none> scale 1.000000e+00 : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
func.func @attention_softmax_grad(%s: tensor<2x4x8x8xf32>, %dw: tensor<2x4x8x8xf32>, %o: tensor<2x4x8x16xf32>, %do: tensor<2x4x8x16xf32>, %lse: tensor<2x4x8xf32>) {
  %w, %g = smp.attention_softmax_grad %s, %dw, %o, %do, %lse <none> scale 1.0
      : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @attention_softmax_grad_with_bias_and_dropout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x8xf32>, %[[ARG1:.+]]: tensor<2x4x8x16xf32>, %[[ARG2:.+]]: tensor<2x4x8xf32>, %[[ARG3:.+]]: tensor<2x1x8x8xi1>
// CHECK-NEXT: %[[WEIGHTS:.+]], %[[SCORES_GRAD:.+]] = smp.attention_softmax_grad %[[ARG0]], %[[ARG0]], %[[ARG1]], %[[ARG1]], %[[ARG2]] bias %[[ARG3]] : tensor<2x1x8x8xi1> <causal> scale 1.000000e+00 dropout 1.000000e-01 site 7 : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
func.func @attention_softmax_grad_with_bias_and_dropout(%s: tensor<2x4x8x8xf32>, %o: tensor<2x4x8x16xf32>, %lse: tensor<2x4x8xf32>, %b: tensor<2x1x8x8xi1>) {
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %lse bias %b : tensor<2x1x8x8xi1> <causal> scale 1.0 dropout 0.1 site 7 : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @cross_entropy_rows(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8x32xf32>, %[[ARG1:.+]]: tensor<8xi64>
// CHECK-NEXT: %[[LOSSES:.+]], %[[LSE:.+]] = smp.cross_entropy_rows %[[ARG0]], %[[ARG1]] ignore -100 : tensor<8x32xf32>, tensor<8xi64> -> tensor<8xf32>
func.func @cross_entropy_rows(%x: tensor<8x32xf32>, %y: tensor<8xi64>) {
  %l, %lse = smp.cross_entropy_rows %x, %y ignore -100 : tensor<8x32xf32>, tensor<8xi64> -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @cluster(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8xf32>, %[[ARG1:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.cluster(%[[ARG0]], %[[ARG1]]) in_place [0] {
// CHECK-NEXT: ^bb0(%[[ARG2:.+]]: tensor<8xf32>, %[[ARG3:.+]]: tensor<8xf32>):
// CHECK-NEXT: %[[V1:.+]] = smp.add %[[ARG2]], %[[ARG3]] : tensor<8xf32>
// CHECK-NEXT: smp.yield %[[V1]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
func.func @cluster(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  %r = smp.cluster(%a, %b) in_place [0] {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %s = smp.add %x, %y : tensor<8xf32>
    smp.yield %s : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @yield(
// CHECK-SAME: %[[ARG0:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.cluster(%[[ARG0]]) in_place [-1] {
// CHECK-NEXT: ^bb0(%[[ARG1:.+]]: tensor<8xf32>):
// CHECK-NEXT: smp.yield %[[ARG1]] : tensor<8xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
func.func @yield(%a: tensor<8xf32>) {
  %r = smp.cluster(%a) in_place [-1] {
  ^bb0(%x: tensor<8xf32>):
    smp.yield %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
