// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Clipping and parameter updates: what violates a constraint, whose id stands above it, is refused.

// -----

// clip_factor_c1
func.func @clip_to_nothing(%s: tensor<f64>) {
  // expected-error@+1 {{'smp.clip_factor' op expects a finite and positive norm, got 0.000000e+00}}
  %r = smp.clip_factor %s max 0.0
  return
}

// -----

// adamw_c1
func.func @adamw_that_only_remembers(%p: tensor<4xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.adamw' op expects betas in [0, 1), got 1.000000e+00}}
  %a, %b, %c = smp.adamw %p, %p, %p, %p rate %rate corrections %rate, %rate betas 0.9, 1.0 epsilon 1.0e-8 decay 0.0 : tensor<4xf32>
  return
}

// -----

// adamw_c2
func.func @adamw_with_a_negative_epsilon(%p: tensor<4xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.adamw' op expects a finite epsilon that is not negative, got -1.000000e+00}}
  %a, %b, %c = smp.adamw %p, %p, %p, %p rate %rate corrections %rate, %rate betas 0.9, 0.9 epsilon -1.0 decay 0.0 : tensor<4xf32>
  return
}

// -----

// adamw_c3
func.func @adamw_that_grows_weights(%p: tensor<4xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.adamw' op expects a finite weight decay that is not negative, got -1.000000e+00}}
  %a, %b, %c = smp.adamw %p, %p, %p, %p rate %rate corrections %rate, %rate betas 0.9, 0.9 epsilon 1.0e-8 decay -1.0 : tensor<4xf32>
  return
}

// -----

// adamw_c4
func.func @adamw_of_other_moments(%p: tensor<4xf32>, %rate: tensor<f64>, %v: tensor<f64>) {
  // expected-error@+1 {{'smp.adamw' op failed to verify that all of {parameter, gradient, exp_avg, exp_avg_sq, new_parameter, new_exp_avg, new_exp_avg_sq} have same type}}
  %a, %b, %c = "smp.adamw"(%p, %p, %p, %v, %rate, %rate, %rate) {beta1 = 0.9, beta2 = 0.9, epsilon = 1.0, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// sgd_c1
func.func @sgd_with_a_negative_momentum(%p: tensor<4xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.sgd' op expects a finite momentum that is not negative, got -5.000000e-01}}
  %a, %b = smp.sgd %p, %p rate %rate momentum -0.5 decay 0.0 : tensor<4xf32>
  return
}

// -----

// sgd_c2
func.func @sgd_with_a_decay_that_is_no_number(%p: tensor<4xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.sgd' op expects a finite weight decay that is not negative, got nan}}
  %a, %b = smp.sgd %p, %p rate %rate momentum 0.5 decay 0x7FF8000000000000 : tensor<4xf32>
  return
}

// -----

// sgd_c3
func.func @sgd_with_another_buffer(%p: tensor<4xf32>, %rate: tensor<f64>, %m: tensor<3xf32>) {
  // expected-error@+1 {{'smp.sgd' op expects a momentum buffer of type 'tensor<4xf32>', got 'tensor<3xf32>'}}
  %a, %b = smp.sgd %p, %p buffer %m : tensor<3xf32> rate %rate momentum 0.5 decay 0.0 : tensor<4xf32>
  return
}

// -----

// sgd_c4
func.func @sgd_of_another_gradient(%p: tensor<4xf32>, %g: tensor<3xf32>, %rate: tensor<f64>) {
  // expected-error@+1 {{'smp.sgd' op failed to verify that all of {parameter, gradient, new_parameter, new_momentum_buffer} have same type}}
  %a, %b = "smp.sgd"(%p, %g, %rate) {momentum = 0.0, weight_decay = 0.0, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>} : (tensor<4xf32>, tensor<3xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
