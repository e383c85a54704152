// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Elementwise ops: what violates a constraint, whose id stands above it, is refused.

func.func @unary_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.neg' op requires the same type for all operands and results}}
  %r = "smp.neg"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @binary_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.add' op requires the same type for all operands and results}}
  %r = "smp.add"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @exp_of_integers(%x: tensor<2xi64>) {
  // expected-error@+1 {{'smp.exp' op operand #0 must be ranked tensor of 32-bit float}}
  %r = smp.exp %x : tensor<2xi64>
  return
}

// -----

func.func @not_of_integers(%x: tensor<2xi64>) {
  // expected-error@+1 {{'smp.not' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xi64>'}}
  %r = smp.not %x : tensor<2xi64>
  return
}

// -----

func.func @cast_of_two_shapes(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.cast' op requires the same shape for all operands and results}}
  %r = smp.cast %x : tensor<2xf32> -> tensor<3xf64>
  return
}

// -----

func.func @select_by_another_shape(%c: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.select' op requires the same shape for all operands and results}}
  %r = smp.select %c, %x, %x : tensor<3xi1>, tensor<2xf32>
  return
}
