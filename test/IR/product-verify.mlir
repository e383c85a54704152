// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Matrix products: what violates a constraint, whose id stands above it, is refused.

// linear_c1
func.func @linear_with_a_vector(%x: tensor<2x3xf32>, %w: tensor<3xf32>) {
  // expected-error@+1 {{expects an input of rank 1 or more and a weight of rank 2, got 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
  %r = smp.linear %x, %w : tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

// linear_c2
func.func @linear_of_other_features(%x: tensor<2x3xf32>, %w: tensor<5x4xf32>) {
  // expected-error@+1 {{expects a weight for 3 input features, got 4}}
  %r = smp.linear %x, %w : tensor<2x3xf32>, tensor<5x4xf32>
  return
}

// -----

// linear_c3
func.func @linear_of_two_element_types(%x: tensor<2x3xf32>, %w: tensor<5x3xf64>) {
  // expected-error@+1 {{'smp.linear' op expects input and weight of one element type, got 'tensor<2x3xf32>' and 'tensor<5x3xf64>'}}
  %r = smp.linear %x, %w : tensor<2x3xf32>, tensor<5x3xf64>
  return
}

// -----

// linear_weight_grad_c1
func.func @weight_grad_of_other_rows(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) {
  // expected-error@+1 {{expects cotangent and input that differ only in the last dim, got 'tensor<2x3xf32>' and 'tensor<3x3xf32>'}}
  %r = smp.linear_weight_grad %x, %w : tensor<2x3xf32>, tensor<3x3xf32>
  return
}

// -----

// linear_weight_grad_c2
func.func @weight_grad_of_two_element_types(%x: tensor<2x3xf32>, %w: tensor<2x4xf64>) {
  // expected-error@+1 {{'smp.linear_weight_grad' op expects cotangent and input of one element type, got 'tensor<2x3xf32>' and 'tensor<2x4xf64>'}}
  %r = smp.linear_weight_grad %x, %w : tensor<2x3xf32>, tensor<2x4xf64>
  return
}

// -----

// batch_matmul_c1
func.func @batch_matmul_of_other_batches(%x: tensor<2x3x4xf32>, %w: tensor<3x4x3xf32>) {
  // expected-error@+1 {{expects operands of rank 2 or more with equal leading dims, got 'tensor<2x3x4xf32>' and 'tensor<3x4x3xf32>'}}
  %r = smp.batch_matmul %x, %w : tensor<2x3x4xf32>, tensor<3x4x3xf32>
  return
}

// -----

// batch_matmul_c2
func.func @batch_matmul_of_other_inner_sizes(%x: tensor<2x3x4xf32>, %w: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expects equal inner sizes, got 4 and 3}}
  %r = smp.batch_matmul %x, %w T : tensor<2x3x4xf32>, tensor<2x4x3xf32>
  return
}

// -----

// batch_matmul_c3
func.func @batch_matmul_of_two_element_types(%x: tensor<3x4xf32>, %w: tensor<4x3xf64>) {
  // expected-error@+1 {{'smp.batch_matmul' op expects operands of one element type, got 'tensor<3x4xf32>' and 'tensor<4x3xf64>'}}
  %r = smp.batch_matmul %x, %w : tensor<3x4xf32>, tensor<4x3xf64>
  return
}
