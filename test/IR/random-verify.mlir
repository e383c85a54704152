// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Ops that draw random numbers: what violates a constraint, whose id stands above it, is refused.

// dropout_c1
func.func @dropout_of_everything(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.dropout' op expects a dropout probability in [0, 1), got 1.000000e+00}}
  %r = smp.dropout %x probability 1.0 site 1 : tensor<4xf32>
  return
}

// -----

// dropout_c2
func.func @dropout_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.dropout' op expects an operand whose first dim holds the samples, got a scalar}}
  %r = smp.dropout %x probability 0.5 site 1 : tensor<f32>
  return
}

// -----

// dropout_c3
func.func @dropout_of_part_of_a_sample(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.dropout' op expects rows_per_sample to divide the 4 rows, got 3}}
  %r = smp.dropout %x probability 0.5 site 1 rows_per_sample 3 : tensor<4xf32>
  return
}

// -----

// dropout_c4
func.func @dropout_to_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.dropout' op requires the same type for all operands and results}}
  %r = "smp.dropout"(%x) {probability = 0.5, site = 1} : (tensor<4xf32>) -> tensor<3xf32>
  return
}
