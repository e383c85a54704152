// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Losses: what violates a constraint, whose id stands above it, is refused.

// cross_entropy_c1
func.func @cross_entropy_of_a_vector(%x: tensor<8xf32>, %y: tensor<8xi64>) {
  // expected-error@+1 {{expects logits [rows, classes], got 'tensor<8xf32>'}}
  %s, %n, %l = smp.cross_entropy %x, %y ignore -100 : tensor<8xf32>, tensor<8xi64>
  return
}

// -----

// cross_entropy_c2
func.func @cross_entropy_with_too_few_labels(%x: tensor<8x4xf32>, %y: tensor<7xi64>) {
  // expected-error@+1 {{'smp.cross_entropy' op expects labels of shape 8, got 7}}
  %s, %n, %l = smp.cross_entropy %x, %y ignore -100 : tensor<8x4xf32>, tensor<7xi64>
  return
}

// -----

// cross_entropy_grad_c1
func.func @cross_entropy_grad_of_a_vector(%c: tensor<f32>, %x: tensor<8xf32>, %y: tensor<8xi64>, %l: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cross_entropy_grad' op expects logits [rows, classes], got 'tensor<8xf32>'}}
  %r = smp.cross_entropy_grad %c, %x, %y, %l ignore -100 : tensor<8xf32>, tensor<8xi64>, tensor<8xf32>, tensor<f32>
  return
}

// -----

// cross_entropy_grad_c2
func.func @cross_entropy_grad_with_too_few_labels(%c: tensor<f32>, %x: tensor<8x4xf32>, %y: tensor<7xi64>, %l: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cross_entropy_grad' op expects labels of shape 8, got 7}}
  %r = smp.cross_entropy_grad %c, %x, %y, %l ignore -100 : tensor<8x4xf32>, tensor<7xi64>, tensor<8xf32>, tensor<f32>
  return
}

// -----

// cross_entropy_grad_c3
func.func @cross_entropy_grad_with_too_few_sums(%c: tensor<f32>, %x: tensor<8x4xf32>, %y: tensor<8xi64>, %l: tensor<7xf32>) {
  // expected-error@+1 {{'smp.cross_entropy_grad' op expects lse of shape 8, got 7}}
  %r = smp.cross_entropy_grad %c, %x, %y, %l ignore -100 : tensor<8x4xf32>, tensor<8xi64>, tensor<7xf32>, tensor<f32>
  return
}

// -----

// cross_entropy_grad_c4
func.func @cross_entropy_grad_of_many_losses(%c: tensor<8xf32>, %x: tensor<8x4xf32>, %y: tensor<8xi64>, %l: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cross_entropy_grad' op expects cotangent of shape (), got 8}}
  %r = smp.cross_entropy_grad %c, %x, %y, %l ignore -100 : tensor<8x4xf32>, tensor<8xi64>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// mean_loss_c1
func.func @mean_of_many_sums(%s: tensor<2xf32>, %n: tensor<i64>) {
  // expected-error@+1 {{'smp.mean_loss' op expects sum of shape (), got 2}}
  %r = smp.mean_loss "loss" %s by %n : tensor<2xf32>
  return
}

// -----

// mean_loss_c2
func.func @mean_without_a_name(%s: tensor<f32>, %n: tensor<i64>) {
  // expected-error@+1 {{'smp.mean_loss' op expects a name of the loss term, got an empty one}}
  %r = smp.mean_loss "" %s by %n : tensor<f32>
  return
}

// -----

// cross_entropy_grad_c5
func.func @cross_entropy_grad_of_another_type(%c: tensor<f32>, %x: tensor<8x4xf32>, %y: tensor<8xi64>, %l: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cross_entropy_grad' op failed to verify that all of {logits, result} have same type}}
  %r = "smp.cross_entropy_grad"(%c, %x, %y, %l) {ignore_index = -100} : (tensor<f32>, tensor<8x4xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<8x4xf64>
  return
}

// -----

// mean_loss_c3
func.func @mean_of_another_type(%s: tensor<f32>, %n: tensor<i64>) {
  // expected-error@+1 {{'smp.mean_loss' op failed to verify that all of {sum, result} have same type}}
  %r = "smp.mean_loss"(%s, %n) {term = "loss"} : (tensor<f32>, tensor<i64>) -> tensor<f64>
  return
}
