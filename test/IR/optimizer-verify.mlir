// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Clipping and parameter updates: what violates a constraint, whose id stands above it, is refused.

func.func @sgd_of_another_gradient(%p: tensor<4xf32>, %g: tensor<3xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.sgd' op failed to verify that all of {parameter, gradient, new_parameter, new_momentum_buffer} have same type}}
  %a, %b = "smp.sgd"(%p, %g, %rate) {momentum = 0.0, weight_decay = 0.0, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>} : (tensor<4xf32>, tensor<3xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @adamw_of_other_moments(%p: tensor<4xf32>, %rate: tensor<f64>, %v: tensor<f64>) {
  // expected-error@+1 {{'smp.adamw' op failed to verify that all of {parameter, gradient, exp_avg, exp_avg_sq, new_parameter, new_exp_avg, new_exp_avg_sq} have same type}}
  %a, %b, %c = "smp.adamw"(%p, %p, %p, %v, %rate, %rate, %rate) {beta1 = 0.9, beta2 = 0.9, epsilon = 1.0, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @clip_factor_of_single_precision(%s: tensor<f32>) {
  // expected-error@+1 {{'smp.clip_factor' op operand #0 must be scalar f64 tensor, but got 'tensor<f32>'}}
  %r = "smp.clip_factor"(%s) {max_norm = 1.0} : (tensor<f32>) -> tensor<f64>
  return
}
