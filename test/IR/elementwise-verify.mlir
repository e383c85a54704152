// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Elementwise ops: what violates a constraint, whose id stands above it, is refused.

// -----

// neg_c1
func.func @neg_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.neg' op requires the same type for all operands and results}}
  %r = "smp.neg"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// abs_c1
func.func @abs_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.abs' op requires the same type for all operands and results}}
  %r = "smp.abs"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// exp_c1
func.func @exp_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.exp' op requires the same type for all operands and results}}
  %r = "smp.exp"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// log_c1
func.func @log_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.log' op requires the same type for all operands and results}}
  %r = "smp.log"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// sqrt_c1
func.func @sqrt_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.sqrt' op requires the same type for all operands and results}}
  %r = "smp.sqrt"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// rsqrt_c1
func.func @rsqrt_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.rsqrt' op requires the same type for all operands and results}}
  %r = "smp.rsqrt"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// sin_c1
func.func @sin_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.sin' op requires the same type for all operands and results}}
  %r = "smp.sin"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// cos_c1
func.func @cos_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.cos' op requires the same type for all operands and results}}
  %r = "smp.cos"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// tanh_c1
func.func @tanh_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.tanh' op requires the same type for all operands and results}}
  %r = "smp.tanh"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// sigmoid_c1
func.func @sigmoid_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.sigmoid' op requires the same type for all operands and results}}
  %r = "smp.sigmoid"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// relu_c1
func.func @relu_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.relu' op requires the same type for all operands and results}}
  %r = "smp.relu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// silu_c1
func.func @silu_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.silu' op requires the same type for all operands and results}}
  %r = "smp.silu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// gelu_c1
func.func @gelu_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.gelu' op requires the same type for all operands and results}}
  %r = "smp.gelu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// stop_gradient_c1
func.func @stop_gradient_of_two_types(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.stop_gradient' op requires the same type for all operands and results}}
  %r = "smp.stop_gradient"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// not_c1
func.func @not_of_two_types(%x: tensor<2xi1>) {
  // expected-error@+1 {{'smp.not' op requires the same type for all operands and results}}
  %r = "smp.not"(%x) : (tensor<2xi1>) -> tensor<3xi1>
  return
}

// -----

// add_c1
func.func @add_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.add' op requires the same type for all operands and results}}
  %r = "smp.add"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// sub_c1
func.func @sub_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.sub' op requires the same type for all operands and results}}
  %r = "smp.sub"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// mul_c1
func.func @mul_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.mul' op requires the same type for all operands and results}}
  %r = "smp.mul"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// div_c1
func.func @div_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.div' op requires the same type for all operands and results}}
  %r = "smp.div"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// pow_c1
func.func @pow_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.pow' op requires the same type for all operands and results}}
  %r = "smp.pow"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// maximum_c1
func.func @maximum_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.maximum' op requires the same type for all operands and results}}
  %r = "smp.maximum"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// minimum_c1
func.func @minimum_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.minimum' op requires the same type for all operands and results}}
  %r = "smp.minimum"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// gelu_grad_c1
func.func @gelu_grad_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.gelu_grad' op requires the same type for all operands and results}}
  %r = "smp.gelu_grad"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// silu_grad_c1
func.func @silu_grad_does_not_broadcast(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{'smp.silu_grad' op requires the same type for all operands and results}}
  %r = "smp.silu_grad"(%x, %y) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// and_c1
func.func @and_does_not_broadcast(%x: tensor<2xi1>, %y: tensor<1xi1>) {
  // expected-error@+1 {{'smp.and' op requires the same type for all operands and results}}
  %r = "smp.and"(%x, %y) : (tensor<2xi1>, tensor<1xi1>) -> tensor<2xi1>
  return
}

// -----

// or_c1
func.func @or_does_not_broadcast(%x: tensor<2xi1>, %y: tensor<1xi1>) {
  // expected-error@+1 {{'smp.or' op requires the same type for all operands and results}}
  %r = "smp.or"(%x, %y) : (tensor<2xi1>, tensor<1xi1>) -> tensor<2xi1>
  return
}

// -----

// cast_c1
func.func @cast_of_two_shapes(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.cast' op requires the same shape for all operands and results}}
  %r = smp.cast %x : tensor<2xf32> -> tensor<3xf64>
  return
}

// -----

// compare_c1
func.func @compare_of_two_types(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{'smp.compare' op requires all operands to have the same type}}
  %r = "smp.compare"(%x, %y) {predicate = #smp<compare le>} : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  return
}

// -----

// compare_c2
func.func @compare_of_two_shapes(%x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.compare' op requires the same shape for all operands and results}}
  %r = "smp.compare"(%x, %x) {predicate = #smp<compare le>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

// select_c1
func.func @select_by_another_shape(%c: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{'smp.select' op requires the same shape for all operands and results}}
  %r = smp.select %c, %x, %x : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

// select_c2
func.func @select_of_two_types(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{'smp.select' op failed to verify that all of {on_true, on_false, result} have same type}}
  %r = "smp.select"(%c, %x, %y) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}
