// RUN: smp-opt %s | smp-opt | FileCheck %s

// Clipping and parameter updates: what is printed is what was parsed.

// CHECK-LABEL: func.func @step_value(
// CHECK-NEXT: %[[V0:.+]] = smp.step_value  learning_rate
func.func @step_value() {
  %r = smp.step_value learning_rate
  return
}

// CHECK-LABEL: func.func @step_value_corrections(
// CHECK-NEXT: %[[V0:.+]] = smp.step_value  bias_correction1
// CHECK-NEXT: %[[V1:.+]] = smp.step_value  bias_correction2
func.func @step_value_corrections() {
  %a = smp.step_value bias_correction1
  %b = smp.step_value bias_correction2
  return
}

// CHECK-LABEL: func.func @sum_of_squares(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.sum_of_squares %[[ARG0]] : tensor<4x8xf32>
func.func @sum_of_squares(%x: tensor<4x8xf32>) {
  %r = smp.sum_of_squares %x : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @clip_factor(
// CHECK-SAME: %[[ARG0:.+]]: tensor<f64>
// CHECK-NEXT: %[[V0:.+]] = smp.clip_factor %[[ARG0]] max 1.000000e+00
func.func @clip_factor(%s: tensor<f64>) {
  %r = smp.clip_factor %s max 1.0
  return
}

// CHECK-LABEL: func.func @adamw(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>, %[[ARG3:.+]]: tensor<4xf32>, %[[ARG4:.+]]: tensor<f64>, %[[ARG5:.+]]: tensor<f64>, %[[ARG6:.+]]: tensor<f64>, %[[ARG7:.+]]: tensor<f64>
// CHECK-NEXT: %[[NEW_PARAMETER:.+]], %[[NEW_EXP_AVG:.+]], %[[NEW_EXP_AVG_SQ:.+]] = smp.adamw %[[ARG0]], %[[ARG1]], %[[ARG2]], %[[ARG3]] rate %[[ARG4]] corrections %[[ARG5]], %[[ARG6]] scale %[[ARG7]] betas 9.000000e-01, 0.94999999999999996 epsilon 1.000000e-08 decay 1.000000e-01 : tensor<4xf32>
func.func @adamw(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %rate: tensor<f64>, %c1: tensor<f64>, %c2: tensor<f64>, %s: tensor<f64>) {
  %np, %nm, %nv = smp.adamw %p, %g, %m, %v rate %rate corrections %c1, %c2 scale %s
      betas 0.9, 0.95 epsilon 1.0e-08 decay 0.1 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @adam(
// CHECK: smp.adamw {{.*}} decay 1.000000e-01 coupled : tensor<4xf32>
func.func @adam(%p: tensor<4xf32>, %rate: tensor<f64>) {
  %np, %nm, %nv = smp.adamw %p, %p, %p, %p rate %rate corrections %rate, %rate betas 0.9, 0.999 epsilon 1.0e-08 decay 0.1 coupled : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @adamw_without_scale(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<f64>
// CHECK-NEXT: %[[NEW_PARAMETER:.+]], %[[NEW_EXP_AVG:.+]], %[[NEW_EXP_AVG_SQ:.+]] = smp.adamw %[[ARG0]], %[[ARG0]], %[[ARG0]], %[[ARG0]] rate %[[ARG1]] corrections %[[ARG1]], %[[ARG1]] betas 9.000000e-01, 0.99899999999999999 epsilon 1.000000e-08 decay 0.000000e+00 : tensor<4xf32>
func.func @adamw_without_scale(%p: tensor<4xf32>, %rate: tensor<f64>) {
  %np, %nm, %nv = smp.adamw %p, %p, %p, %p rate %rate corrections %rate, %rate betas 0.9, 0.999 epsilon 1.0e-08 decay 0.0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @sgd(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<4xf32>, %[[ARG3:.+]]: tensor<f64>
// CHECK-NEXT: %[[NEW_PARAMETER:.+]], %[[NEW_MOMENTUM_BUFFER:.+]] = smp.sgd %[[ARG0]], %[[ARG1]] buffer %[[ARG2]] : tensor<4xf32> rate %[[ARG3]] momentum 9.000000e-01 decay 0.000000e+00 : tensor<4xf32>
func.func @sgd(%p: tensor<4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %rate: tensor<f64>) {
  %np, %nb = smp.sgd %p, %g buffer %b : tensor<4xf32> rate %rate momentum 0.9 decay 0.0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @sgd_without_buffer(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>, %[[ARG1:.+]]: tensor<4xf32>, %[[ARG2:.+]]: tensor<f64>, %[[ARG3:.+]]: tensor<f64>
// CHECK-NEXT: %[[NEW_PARAMETER:.+]], %[[NEW_MOMENTUM_BUFFER:.+]] = smp.sgd %[[ARG0]], %[[ARG1]] rate %[[ARG2]] scale %[[ARG3]] momentum 9.000000e-01 decay 1.000000e-02 : tensor<4xf32>
func.func @sgd_without_buffer(%p: tensor<4xf32>, %g: tensor<4xf32>, %rate: tensor<f64>, %s: tensor<f64>) {
  %np, %nb = smp.sgd %p, %g rate %rate scale %s momentum 0.9 decay 0.01 : tensor<4xf32>
  return
}
