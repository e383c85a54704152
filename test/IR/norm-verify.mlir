// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Normalisations along the last dim: what violates a constraint, whose id stands above it, is refused.

// layer_norm_c1
func.func @layer_norm_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.layer_norm' op expects an operand of rank 1 or more, got a scalar}}
  %r, %m, %s = smp.layer_norm %x epsilon 1.0 : tensor<f32>
  return
}

// -----

// layer_norm_c2
func.func @layer_norm_with_a_short_weight(%x: tensor<2x8xf32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{'smp.layer_norm' op expects weight of shape 8, got 2}}
  %r, %m, %s = smp.layer_norm %x weight %w : tensor<2xf32> epsilon 1.0 : tensor<2x8xf32>
  return
}

// -----

// layer_norm_c3
func.func @layer_norm_with_a_matrix_as_bias(%x: tensor<2x8xf32>, %w: tensor<1x8xf32>) {
  // expected-error@+1 {{'smp.layer_norm' op expects bias of shape 8, got 1x8}}
  %r, %m, %s = smp.layer_norm %x bias %w : tensor<1x8xf32> epsilon 1.0 : tensor<2x8xf32>
  return
}

// -----

// layer_norm_grad_c1
func.func @layer_norm_grad_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.layer_norm_grad' op expects an operand of rank 1 or more, got a scalar}}
  %a, %b, %c = smp.layer_norm_grad %x, %x mean %x rstd %x : tensor<f32>, tensor<f32>
  return
}

// -----

// layer_norm_grad_c2
func.func @layer_norm_grad_with_a_short_weight(%x: tensor<2x8xf32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{'smp.layer_norm_grad' op expects weight of shape 8, got 2}}
  %a, %b, %c = smp.layer_norm_grad %x, %x weight %w : tensor<2xf32> mean %w rstd %w : tensor<2x8xf32>, tensor<2xf32>
  return
}

// -----

// layer_norm_grad_c3
func.func @layer_norm_grad_with_other_rows(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{'smp.layer_norm_grad' op expects mean and rstd of shape 2, got 8}}
  %a, %b, %c = smp.layer_norm_grad %x, %x mean %w rstd %w : tensor<2x8xf32>, tensor<8xf32>
  return
}

// -----

// rms_norm_c1
func.func @rms_norm_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.rms_norm' op expects an operand of rank 1 or more, got a scalar}}
  %r, %s = smp.rms_norm %x epsilon 1.0 : tensor<f32>
  return
}

// -----

// rms_norm_c2
func.func @rms_norm_with_a_short_weight(%x: tensor<2x8xf32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{'smp.rms_norm' op expects weight of shape 8, got 2}}
  %r, %s = smp.rms_norm %x weight %w : tensor<2xf32> epsilon 1.0 : tensor<2x8xf32>
  return
}

// -----

// rms_norm_grad_c1
func.func @rms_norm_grad_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.rms_norm_grad' op expects an operand of rank 1 or more, got a scalar}}
  %a, %b = smp.rms_norm_grad %x, %x rstd %x : tensor<f32>, tensor<f32>
  return
}

// -----

// rms_norm_grad_c2
func.func @rms_norm_grad_with_a_short_weight(%x: tensor<2x8xf32>, %w: tensor<2xf32>) {
  // expected-error@+1 {{'smp.rms_norm_grad' op expects weight of shape 8, got 2}}
  %a, %b = smp.rms_norm_grad %x, %x weight %w : tensor<2xf32> rstd %w : tensor<2x8xf32>, tensor<2xf32>
  return
}

// -----

// rms_norm_grad_c3
func.func @rms_norm_grad_with_other_rows(%x: tensor<2x8xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{'smp.rms_norm_grad' op expects rstd of shape 2, got 8}}
  %a, %b = smp.rms_norm_grad %x, %x rstd %w : tensor<2x8xf32>, tensor<8xf32>
  return
}

// -----

// softmax_c1
func.func @softmax_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.softmax' op expects an operand of rank 1 or more, got a scalar}}
  %r = smp.softmax %x : tensor<f32>
  return
}

// -----

// softmax_grad_c1
func.func @softmax_grad_of_a_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'smp.softmax_grad' op expects an operand of rank 1 or more, got a scalar}}
  %r = smp.softmax_grad %x, %x : tensor<f32>
  return
}

// -----

// layer_norm_c4
func.func @layer_norm_with_a_negative_epsilon(%x: tensor<2x8xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{'smp.layer_norm' op expects a finite epsilon that is not negative, got -1.000000e+00}}
  %r, %m, %d = smp.layer_norm %x epsilon -1.0 : tensor<2x8xf32>
  return
}

// -----

// layer_norm_grad_c4
func.func @layer_norm_grad_of_another_cotangent(%x: tensor<2x8xf32>, %s: tensor<2xf32>, %c: tensor<2x8xf64>) {
  // expected-error@+1 {{'smp.layer_norm_grad' op failed to verify that all of {cotangent, operand} have same type}}
  %a, %b, %d = "smp.layer_norm_grad"(%c, %x, %s, %s) : (tensor<2x8xf64>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// layer_norm_grad_c5
func.func @layer_norm_grad_of_another_deviation(%x: tensor<2x8xf32>, %s: tensor<2xf32>, %d: tensor<2xf64>) {
  // expected-error@+1 {{'smp.layer_norm_grad' op failed to verify that all of {mean, rstd} have same type}}
  %a, %b, %c = "smp.layer_norm_grad"(%x, %x, %s, %d) : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<2xf64>) -> (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// rms_norm_c3
func.func @rms_norm_with_an_infinite_epsilon(%x: tensor<2x8xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{'smp.rms_norm' op expects a finite epsilon that is not negative, got INF}}
  %r, %d = smp.rms_norm %x epsilon 0x7FF0000000000000 : tensor<2x8xf32>
  return
}

// -----

// rms_norm_grad_c4
func.func @rms_norm_grad_of_another_cotangent(%x: tensor<2x8xf32>, %s: tensor<2xf32>, %c: tensor<2x8xf64>) {
  // expected-error@+1 {{'smp.rms_norm_grad' op failed to verify that all of {cotangent, operand} have same type}}
  %a, %b = "smp.rms_norm_grad"(%c, %x, %s) : (tensor<2x8xf64>, tensor<2x8xf32>, tensor<2xf32>) -> (tensor<2x8xf32>, tensor<8xf32>)
  return
}

// -----

// softmax_c2
func.func @softmax_to_another_type(%x: tensor<2x8xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{'smp.softmax' op requires the same type for all operands and results}}
  %r = "smp.softmax"(%x) : (tensor<2x8xf32>) -> tensor<2x7xf32>
  return
}

// -----

// softmax_grad_c2
func.func @softmax_grad_of_another_type(%x: tensor<2x8xf32>, %s: tensor<2xf32>, %c: tensor<2x8xf64>) {
  // expected-error@+1 {{'smp.softmax_grad' op requires the same type for all operands and results}}
  %r = "smp.softmax_grad"(%c, %x) : (tensor<2x8xf64>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}
