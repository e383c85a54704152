// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Reductions: what violates a constraint, whose id stands above it, is refused.

// reduce_sum_c1
func.func @sum_over_descending_dims(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects ascending dims in [0, 2), got 0}}
  // expected-error@+1 {{'smp.reduce_sum' op failed to infer returned types}}
  %r = smp.reduce_sum %x [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

// reduce_max_c1
func.func @maximum_over_descending_dims(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects ascending dims in [0, 2), got 0}}
  // expected-error@+1 {{'smp.reduce_max' op failed to infer returned types}}
  %r = smp.reduce_max %x [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

// cumsum_c1
func.func @cumsum_along_no_dim(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'smp.cumsum' op expects dim in [0, 2), got 2}}
  %r = smp.cumsum %x, 2 : tensor<2x3xf32>
  return
}

// -----

// reduce_max_c2
func.func @maximum_of_nothing(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{'smp.reduce_max' op expects a maximum over at least one element, got none along dim 1}}
  %r = smp.reduce_max %x [1] : tensor<2x0xf32> -> tensor<2xf32>
  return
}

// -----

// cumsum_c2
func.func @cumsum_to_another_type(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'smp.cumsum' op requires the same type for all operands and results}}
  %r = "smp.cumsum"(%x) {dim = 0} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}
