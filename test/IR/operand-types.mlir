// RUN: smp-opt %s -verify-diagnostics -split-input-file

// What the definitions say of operands' types holds: one op for each of the dialect's types.

func.func @floating_numbers_only(%x: tensor<2xi64>) {
  // expected-error@+1 {{'smp.exp' op operand #0 must be ranked tensor of 32-bit float}}
  %r = smp.exp %x : tensor<2xi64>
  return
}

// -----

func.func @truth_values_only(%x: tensor<2xi64>) {
  // expected-error@+1 {{'smp.not' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xi64>'}}
  %r = smp.not %x : tensor<2xi64>
  return
}

// -----

func.func @indices_only(%t: tensor<8x2xf32>, %i: tensor<2xi1>) {
  // expected-error@+1 {{'smp.embedding' op operand #1 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2xi1>'}}
  %r = smp.embedding %t, %i : tensor<8x2xf32>, tensor<2xi1>
  return
}

// -----

func.func @elements_with_kernels_only(%x: tensor<2xi16>) {
  // expected-error@+1 {{'smp.add' op operand #0 must be ranked tensor of}}
  %r = smp.add %x, %x : tensor<2xi16>
  return
}

// -----

func.func @numbers_of_a_step_only(%s: tensor<f32>) {
  // expected-error@+1 {{'smp.clip_factor' op operand #0 must be scalar f64 tensor, but got 'tensor<f32>'}}
  %r = "smp.clip_factor"(%s) {max_norm = 1.0} : (tensor<f32>) -> tensor<f64>
  return
}

// -----

func.func @counts_only(%s: tensor<f32>, %n: tensor<i32>) {
  // expected-error@+1 {{'smp.mean_loss' op operand #1 must be scalar i64 tensor, but got 'tensor<i32>'}}
  %r = "smp.mean_loss"(%s, %n) {term = "loss"} : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}
