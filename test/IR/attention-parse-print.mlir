// RUN: smp-opt %s | smp-opt | FileCheck %s

// Attention and what belongs to it: what is printed is what was parsed.

// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x16xf32>, %[[ARG1:.+]]: tensor<2x2x8x16xf32>, %[[ARG2:.+]]: tensor<2x2x8x16xf32>
// CHECK-NEXT: %[[RESULT:.+]], %[[LSE:.+]] = smp.attention %[[ARG0]], %[[ARG1]], %[[ARG2]] <causal> scale 2.500000e-01 : tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>
func.func @attention(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x8x16xf32>, %v: tensor<2x2x8x16xf32>) {
  %r, %lse = smp.attention %q, %k, %v <causal> scale 0.25
      : tensor<2x4x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>
  return
}

// CHECK-LABEL: func.func @attention_with_bias_and_dropout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x16xf32>, %[[ARG1:.+]]: tensor<2x4x8x16xf32>, %[[ARG2:.+]]: tensor<2x4x8x16xf32>, %[[ARG3:.+]]: tensor<2x1x8x8xi1>
// CHECK-NEXT: %[[RESULT:.+]], %[[LSE:.+]] = smp.attention %[[ARG0]], %[[ARG1]], %[[ARG2]] bias %[[ARG3]] : tensor<2x1x8x8xi1> <none> scale 2.500000e-01 dropout 1.000000e-01 site 7 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
func.func @attention_with_bias_and_dropout(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>, %v: tensor<2x4x8x16xf32>, %b: tensor<2x1x8x8xi1>) {
  %r, %lse = smp.attention %q, %k, %v bias %b : tensor<2x1x8x8xi1> <none> scale 0.25 dropout 0.1 site 7 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
  return
}

// CHECK-LABEL: func.func @attention_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<1x2x8x4xf32>, %[[ARG1:.+]]: tensor<1x2x8x4xf32>, %[[ARG2:.+]]: tensor<1x2x8x4xf32>, %[[ARG3:.+]]: tensor<1x2x8x4xf32>, %[[ARG4:.+]]: tensor<1x2x8x4xf32>, %[[ARG5:.+]]: tensor<1x2x8xf32>
// CHECK-NEXT: %[[QUERY_GRAD:.+]], %[[KEY_GRAD:.+]], %[[VALUE_GRAD:.+]] = smp.attention_grad %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]], %[[ARG4]], %[[ARG5]] <causal> scale 5.000000e-01 : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
func.func @attention_grad(%c: tensor<1x2x8x4xf32>, %q: tensor<1x2x8x4xf32>, %k: tensor<1x2x8x4xf32>, %v: tensor<1x2x8x4xf32>, %r: tensor<1x2x8x4xf32>, %lse: tensor<1x2x8xf32>) {
  %dq, %dk, %dv = smp.attention_grad %c, %q, %k, %v, %r, %lse <causal> scale 0.5
      : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
  return
}

// CHECK-LABEL: func.func @attention_grad_with_bias_and_dropout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x16xf32>, %[[ARG1:.+]]: tensor<2x4x8x16xf32>, %[[ARG2:.+]]: tensor<2x4x8x16xf32>, %[[ARG3:.+]]: tensor<2x4x8xf32>, %[[ARG4:.+]]: tensor<1x4x8x8xf32>
// CHECK-NEXT: %[[QUERY_GRAD:.+]], %[[KEY_GRAD:.+]], %[[VALUE_GRAD:.+]] = smp.attention_grad %[[ARG0]], %[[ARG1]], %[[ARG1]], %[[ARG1]], %[[ARG2]], %[[ARG3]] bias %[[ARG4]] : tensor<1x4x8x8xf32> <causal> scale 2.500000e-01 dropout 1.000000e-01 site 7 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
func.func @attention_grad_with_bias_and_dropout(%c: tensor<2x4x8x16xf32>, %q: tensor<2x4x8x16xf32>, %r: tensor<2x4x8x16xf32>, %lse: tensor<2x4x8xf32>, %b: tensor<1x4x8x8xf32>) {
  %dq, %dk, %dv = smp.attention_grad %c, %q, %q, %q, %r, %lse bias %b : tensor<1x4x8x8xf32> <causal> scale 0.25 dropout 0.1 site 7 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @attention_grad_of_a_bias(
// CHECK-NEXT: %{{.+}}, %{{.+}}, %{{.+}}, %[[BIAS_GRAD:.+]] = smp.attention_grad {{.*}} bias %{{.+}} : tensor<1x4x8x8xf32> bias_gradient <window, 3, 0> scale 2.500000e-01 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
// CHECK-NEXT: return %[[BIAS_GRAD]] : tensor<1x4x8x8xf32>
func.func @attention_grad_of_a_bias(%c: tensor<2x4x8x16xf32>, %q: tensor<2x4x8x16xf32>, %r: tensor<2x4x8x16xf32>, %lse: tensor<2x4x8xf32>, %b: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %dq, %dk, %dv, %db = smp.attention_grad %c, %q, %q, %q, %r, %lse bias %b : tensor<1x4x8x8xf32> bias_gradient <window, 3, 0> scale 0.25 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>
  return %db : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func private @masks
// CHECK-SAME: test.causal = #smp.mask<causal>
// CHECK-SAME: test.none = #smp.mask<none>
// CHECK-SAME: test.prefix = #smp.mask<prefix, 4>
// CHECK-SAME: test.window = #smp.mask<window, 127, 0>
func.func private @masks() attributes {
  test.none = #smp.mask<none>, test.causal = #smp.mask<causal>,
  test.window = #smp.mask<window, 127, 0>, test.prefix = #smp.mask<prefix, 4>
}

// CHECK-LABEL: func.func @rotary_embedding(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8x16xf32>, %[[ARG1:.+]]: tensor<8x8xf32>, %[[ARG2:.+]]: tensor<8x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.rotary_embedding %[[ARG0]], %[[ARG1]], %[[ARG2]] : tensor<2x4x8x16xf32>, tensor<8x8xf32>
func.func @rotary_embedding(%x: tensor<2x4x8x16xf32>, %c: tensor<8x8xf32>, %s: tensor<8x8xf32>) {
  %r = smp.rotary_embedding %x, %c, %s : tensor<2x4x8x16xf32>, tensor<8x8xf32>
  return
}
