// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Ops that choose elements by integer tensors: what violates a constraint, whose id stands above it, is refused.

// embedding_c1
func.func @embedding_in_a_vector(%t: tensor<8xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{expects a table of rank 2, got 'tensor<8xf32>'}}
  %r = smp.embedding %t, %i : tensor<8xf32>, tensor<2xi64>
  return
}

// -----

// embedding_grad_c1
func.func @embedding_grad_of_other_places(%c: tensor<3x8xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{expects a cotangent for indices of shape 2, got 'tensor<3x8xf32>'}}
  %r = smp.embedding_grad %c, %i rows 4 : tensor<3x8xf32>, tensor<2xi64>
  return
}

// -----

// embedding_grad_c2
func.func @embedding_grad_of_no_rows(%c: tensor<2x8xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{expects a positive number of rows, got 0}}
  %r = smp.embedding_grad %c, %i rows 0 : tensor<2x8xf32>, tensor<2xi64>
  return
}

// -----

// gather_c1
func.func @gather_along_no_dim(%x: tensor<4x8xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+1 {{'smp.gather' op expects dim in [0, 2), got 2}}
  %r = smp.gather %x, %i, 2 : tensor<4x8xf32>, tensor<4x1xi64>
  return
}

// -----

// gather_c2
func.func @gather_at_other_places(%x: tensor<4x8xf32>, %i: tensor<3x1xi64>) {
  // expected-error@+1 {{'smp.gather' op expects indices of shape 4x1, got 3x1}}
  %r = smp.gather %x, %i, 1 : tensor<4x8xf32>, tensor<3x1xi64>
  return
}

// -----

// gather_grad_c1
func.func @gather_grad_along_no_dim(%c: tensor<4x1xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+1 {{expects dim in [0, 2), got 2}}
  %r = smp.gather_grad %c, %i, 2 extent 8 : tensor<4x1xf32>, tensor<4x1xi64>
  return
}

// -----

// gather_grad_c2
func.func @gather_grad_at_other_places(%c: tensor<4x1xf32>, %i: tensor<4x2xi64>) {
  // expected-error@+1 {{'smp.gather_grad' op expects indices of shape 4x1, got 4x2}}
  %r = smp.gather_grad %c, %i, 1 extent 8 : tensor<4x1xf32>, tensor<4x2xi64>
  return
}

// -----

// gather_grad_c3
func.func @gather_grad_of_nothing(%c: tensor<4x1xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+1 {{expects a positive extent, got 0}}
  %r = smp.gather_grad %c, %i, 1 extent 0 : tensor<4x1xf32>, tensor<4x1xi64>
  return
}

// -----

// index_c1
func.func @index_by_too_many_tensors(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{expects 1 to 1 index tensors, got 2}}
  %r = smp.index %x[%i, %i] : tensor<4xf32>, tensor<2xi64>, tensor<2xi64>
  return
}

// -----

// index_c2
func.func @index_by_tensors_of_two_shapes(%x: tensor<4x4xf32>, %i: tensor<2xi64>, %j: tensor<3xi64>) {
  // expected-error@+1 {{'smp.index' op expects index tensors of shape 2, got 3}}
  %r = smp.index %x[%i, %j] : tensor<4x4xf32>, tensor<2xi64>, tensor<3xi64>
  return
}
