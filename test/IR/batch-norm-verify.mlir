// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Batch norms: what violates a constraint, whose id stands above it, is refused.

// batch_norm_c1
func.func @batch_norm_of_a_vector(%x: tensor<8xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{'smp.batch_norm' op expects an operand of rank 2 or more, got rank 1}}
  %r, %a, %b, %c, %d = smp.batch_norm %x running %m, %m momentum 0.1 epsilon 1.0 : tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// batch_norm_c2
func.func @batch_norm_with_a_short_weight(%x: tensor<4x8xf32>, %w: tensor<4xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{'smp.batch_norm' op expects weight of shape 8, got 4}}
  %r, %a, %b, %c, %d = smp.batch_norm %x weight %w : tensor<4xf32> running %m, %m momentum 0.1 epsilon 1.0 : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

// batch_norm_c3
func.func @batch_norm_of_one_element(%x: tensor<1x8x1x1xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{'smp.batch_norm' op expects more than one element of each channel in a microbatch, got one}}
  %r, %a, %b, %c, %d = smp.batch_norm %x running %m, %m momentum 0.1 epsilon 1.0 : tensor<1x8x1x1xf32>, tensor<8xf32>
  return
}

// -----

// batch_norm_grad_c1
func.func @batch_norm_grad_of_a_vector(%x: tensor<8xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{'smp.batch_norm_grad' op expects an operand of rank 2 or more, got rank 1}}
  %0, %1, %2 = smp.batch_norm_grad %x, %x mean %m rstd %m : tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// batch_norm_grad_c2
func.func @batch_norm_grad_with_short_statistics(%x: tensor<4x8xf32>, %m: tensor<4xf32>) {
  // expected-error@+1 {{'smp.batch_norm_grad' op expects mean and rstd of shape 8, got 4}}
  %0, %1, %2 = smp.batch_norm_grad %x, %x mean %m rstd %m : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

// batch_norm_inference_c1
func.func @batch_norm_inference_of_a_vector(%x: tensor<8xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{'smp.batch_norm_inference' op expects an operand of rank 2 or more, got rank 1}}
  %r = smp.batch_norm_inference %x running %m, %m epsilon 1.0 : tensor<8xf32>, tensor<8xf32>
  return
}

// -----

// batch_norm_inference_c2
func.func @batch_norm_inference_with_a_short_bias(%x: tensor<4x8xf32>, %b: tensor<4xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{'smp.batch_norm_inference' op expects bias of shape 8, got 4}}
  %r = smp.batch_norm_inference %x bias %b : tensor<4xf32> running %m, %m epsilon 1.0 : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

// batch_norm_c4
func.func @batch_norm_of_other_averages(%x: tensor<4x8xf32>, %m: tensor<8xf32>, %v: tensor<8xf64>) {
  // expected-error@+1 {{failed to verify that all of {running_mean, running_variance} have same type}}
  %r:5 = "smp.batch_norm"(%x, %m, %v) <{epsilon = 1.0 : f64, momentum = 0.1 : f64, operandSegmentSizes = array<i32: 1, 0, 0, 1, 1>}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>)
  return
}

// -----

// batch_norm_grad_c3
func.func @batch_norm_grad_of_another_cotangent(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %c: tensor<4x8xf64>) {
  // expected-error@+1 {{failed to verify that all of {cotangent, operand} have same type}}
  %r:3 = "smp.batch_norm_grad"(%c, %x, %s, %s) : (tensor<4x8xf64>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// batch_norm_grad_c4
func.func @batch_norm_grad_of_another_deviation(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %d: tensor<8xf64>) {
  // expected-error@+1 {{failed to verify that all of {mean, rstd} have same type}}
  %r:3 = "smp.batch_norm_grad"(%x, %x, %s, %d) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// batch_norm_inference_c3
func.func @batch_norm_inference_of_other_averages(%x: tensor<4x8xf32>, %m: tensor<8xf32>, %v: tensor<8xf64>) {
  // expected-error@+1 {{failed to verify that all of {running_mean, running_variance} have same type}}
  %r = "smp.batch_norm_inference"(%x, %m, %v) <{epsilon = 1.0 : f64, operandSegmentSizes = array<i32: 1, 0, 0, 1, 1>}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>) -> tensor<4x8xf32>
  return
}
