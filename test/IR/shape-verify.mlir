// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Sizes, constants and moves of elements: what violates a constraint, whose id stands above it, is refused.

// dim_c1
func.func @dim_out_of_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'smp.dim' op expects dim in [0, 2), got 2}}
  %r = smp.dim %x, 2 : tensor<2x3xf32>
  return
}

// -----

// fill_c1
func.func @fill_without_its_size() {
  // expected-error@+1 {{'smp.fill' op expects one size for each of the 1 dynamic dims of the result, got 0}}
  %r = smp.fill 0.0 : tensor<?xf32>
  return
}

// -----

// iota_c1
func.func @iota_along_no_dim() {
  // expected-error@+1 {{'smp.iota' op expects dim in [0, 1), got 1}}
  %r = smp.iota 1 : tensor<4xi64>
  return
}

// -----

// iota_c2
func.func @iota_with_a_size_too_many(%n: index) {
  // expected-error@+1 {{'smp.iota' op expects one size for each of the 0 dynamic dims of the result, got 1}}
  %r = smp.iota 0 [%n] : tensor<4xi64>
  return
}

// -----

// expand_c1
func.func @expand_with_a_dim_too_many(%x: tensor<3xf32>) {
  // expected-error@+1 {{'smp.expand' op expects a result dim for each of the 1 operand dims, got 2}}
  %r = smp.expand %x [0, 1] : tensor<3xf32> -> tensor<3x2xf32>
  return
}

// -----

// expand_c2
func.func @expand_with_descending_dims(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{'smp.expand' op expects ascending result dims in [0, 2), got 0}}
  %r = smp.expand %x [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  return
}

// -----

// expand_c3
func.func @expand_of_another_size(%x: tensor<3xf32>) {
  // expected-error@+1 {{'smp.expand' op expects operand dim 0 of size 1 or 4, got 3}}
  %r = smp.expand %x [1] : tensor<3xf32> -> tensor<2x4xf32>
  return
}

// -----

// expand_c4
func.func @expand_to_another_element_type(%x: tensor<3xf32>) {
  // expected-error@+1 {{'smp.expand' op expects a result of element type 'f32', got 'f64'}}
  %r = smp.expand %x [1] : tensor<3xf32> -> tensor<2x3xf64>
  return
}

// -----

// expand_c5
func.func @expand_without_its_size(%x: tensor<3xf32>) {
  // expected-error@+1 {{'smp.expand' op expects one size for each of the 1 dynamic dims of the result, got 0}}
  %r = smp.expand %x [1] : tensor<3xf32> -> tensor<?x3xf32>
  return
}

// -----

// reshape_c1
func.func @reshape_to_another_element_type(%x: tensor<6xf32>) {
  // expected-error@+1 {{'smp.reshape' op expects a result of element type 'f32', got 'i64'}}
  %r = smp.reshape %x : tensor<6xf32> -> tensor<6xi64>
  return
}

// -----

// reshape_c2
func.func @reshape_to_more_elements(%x: tensor<6xf32>) {
  // expected-error@+1 {{'smp.reshape' op expects a result of 6 elements, got 8}}
  %r = smp.reshape %x : tensor<6xf32> -> tensor<2x4xf32>
  return
}

// -----

// reshape_c3
func.func @reshape_without_its_size(%x: tensor<6xf32>) {
  // expected-error@+1 {{'smp.reshape' op expects one size for each of the 1 dynamic dims of the result, got 0}}
  %r = smp.reshape %x : tensor<6xf32> -> tensor<?x2xf32>
  return
}

// -----

// transpose_c1
func.func @transpose_by_no_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects a permutation of the 2 operand dims}}
  // expected-error@+1 {{'smp.transpose' op failed to infer returned types}}
  %r = smp.transpose %x [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

// slice_c1
func.func @slice_of_a_dynamic_dim(%x: tensor<?x3xf32>) {
  // expected-error@+2 {{expects a static dim of the operand, got 0}}
  // expected-error@+1 {{'smp.slice' op failed to infer returned types}}
  %r = smp.slice %x, 0 [0 : 1] : tensor<?x3xf32> -> tensor<1x3xf32>
  return
}

// -----

// slice_c2
func.func @slice_beyond_the_dim(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects 0 <= start <= stop <= 3, got 1 and 4}}
  // expected-error@+1 {{'smp.slice' op failed to infer returned types}}
  %r = smp.slice %x, 1 [1 : 4] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

// slice_c3
func.func @slice_without_progress(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects a positive step, got 0}}
  // expected-error@+1 {{'smp.slice' op failed to infer returned types}}
  %r = smp.slice %x, 1 [1 : 3 : 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

// pad_c1
func.func @pad_of_a_dynamic_dim(%x: tensor<?x3xf32>) {
  // expected-error@+2 {{expects a static dim of the operand, got 0}}
  // expected-error@+1 {{'smp.pad' op failed to infer returned types}}
  %r = smp.pad %x, 0 low 0 high 1 with 0.0 : tensor<?x3xf32> -> tensor<1x3xf32>
  return
}

// -----

// pad_c2
func.func @pad_that_crops(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects padding of no negative size, got -1}}
  // expected-error@+1 {{'smp.pad' op failed to infer returned types}}
  %r = smp.pad %x, 1 low -1 high 0 with 0.0 : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

// concat_c1
func.func @concat_of_nothing() {
  // expected-error@+2 {{expects at least one operand}}
  // expected-error@+1 {{'smp.concat' op failed to infer returned types}}
  %r = "smp.concat"() {dim = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

// concat_c2
func.func @concat_along_no_dim(%x: tensor<2xf32>) {
  // expected-error@+2 {{expects dim in [0, 1), got 1}}
  // expected-error@+1 {{'smp.concat' op failed to infer returned types}}
  %r = smp.concat %x dim 1 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// concat_c3
func.func @concat_of_other_shapes(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) {
  // expected-error@+2 {{expects operands that differ only in dim 0, got 'tensor<3x2xf32>' beside 'tensor<2x3xf32>'}}
  // expected-error@+1 {{'smp.concat' op failed to infer returned types}}
  %r = smp.concat %x, %y dim 0 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<5x3xf32>
  return
}

// -----

// constant_c1
func.func @constant_of_elements_elsewhere() {
  // expected-error@+1 {{'smp.constant' op expects dense elements, got others}}
  %r = smp.constant sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

// constant_c2
func.func @constant_of_another_type() {
  // expected-error@+1 {{'smp.constant' op failed to verify that all of {value, result} have same type}}
  %r = "smp.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

// fill_c2
func.func @fill_of_integers_with_a_half() {
  // expected-error@+1 {{'smp.fill' op expects a number that 'i64' holds, got 5.000000e-01}}
  %r = smp.fill 0.5 : tensor<2xi64>
  return
}

// -----

// fill_c2
func.func @fill_of_truth_values_with_two() {
  // expected-error@+1 {{'smp.fill' op expects a number that 'i1' holds, got 2.000000e+00}}
  %r = smp.fill 2.0 : tensor<2xi1>
  return
}

// -----

// fill_c2
func.func @fill_of_integers_with_infinity() {
  // expected-error@+1 {{'smp.fill' op expects a number that 'i32' holds, got -INF}}
  %r = smp.fill 0xFFF0000000000000 : tensor<2xi32>
  return
}

// -----

// pad_c3
func.func @pad_of_bytes_with_a_negative_number(%x: tensor<2xi8>) {
  // expected-error@+1 {{'smp.pad' op expects a number that 'i8' holds, got -1.000000e+00}}
  %r = smp.pad %x, 0 low 1 high 0 with -1.0 : tensor<2xi8> -> tensor<3xi8>
  return
}
