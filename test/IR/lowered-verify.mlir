// RUN: smp-opt %s -verify-diagnostics -split-input-file

// What lowering makes of model ops: what violates a constraint, whose id stands above it, is refused.

// product_c1
func.func @product_of_too_many_elements(%l: tensor<2x3xf32>, %r: tensor<4x4xf32>) {
  // expected-error@+1 {{'smp.product' op expects 12 elements, got 'tensor<4x4xf32>'}}
  %p = smp.product %l, %r transposed false, false batch 1, 1, 1 sizes 2, 4, 3 : tensor<2x3xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
  return
}

// -----

// product_c2
func.func @product_with_a_batch_that_does_not_divide(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'smp.product' op expects div_batch and sum_batch that divide the batch, got 2, 1 and 3}}
  %p = smp.product %l, %r transposed false, false batch 3, 2, 1 sizes 2, 4, 3 : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  return
}

// -----

// product_c3
func.func @product_into_another_shape(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>, %acc: tensor<8xf32>) {
  // expected-error@+1 {{'smp.product' op expects an accumulator of type 'tensor<2x4xf32>', got 'tensor<8xf32>'}}
  %p = smp.product %l, %r into %acc : tensor<8xf32> transposed false, false batch 1, 1, 1 sizes 2, 4, 3 : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  return
}

// -----

// attention_softmax_c1
func.func @attention_softmax_of_rank_three(%s: tensor<4x8x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax' op expects scores of rank 4, got 'tensor<4x8x8xf32>'}}
  %p, %l = smp.attention_softmax %s <none> scale 1.0 : tensor<4x8x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// attention_softmax_c2
func.func @attention_softmax_of_other_rows(%s: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax' op expects lse of shape 1x4x8, got 4x8}}
  %p, %l = smp.attention_softmax %s <none> scale 1.0 : tensor<1x4x8x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// attention_softmax_grad_c1
func.func @attention_softmax_grad_of_rank_three(%s: tensor<4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<4x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op expects scores of rank 4, got 'tensor<4x8x8xf32>'}}
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l <none> scale 1.0 : tensor<4x8x8xf32>, tensor<1x4x8x2xf32>, tensor<4x8xf32>
  return
}

// -----

// attention_softmax_grad_c2
func.func @attention_softmax_grad_of_fewer_rows(%s: tensor<1x4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<1x4x7xf32>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op expects lse of shape 1x4x8, got 1x4x7}}
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l <none> scale 1.0 : tensor<1x4x8x8xf32>, tensor<1x4x8x2xf32>, tensor<1x4x7xf32>
  return
}

// -----

// cross_entropy_rows_c1
func.func @cross_entropy_rows_of_a_vector(%x: tensor<8xf32>, %y: tensor<8xi64>) {
  // expected-error@+1 {{'smp.cross_entropy_rows' op expects logits [rows, classes], got 'tensor<8xf32>'}}
  %l, %lse = smp.cross_entropy_rows %x, %y ignore -100 : tensor<8xf32>, tensor<8xi64> -> tensor<8xf32>
  return
}

// -----

// cross_entropy_rows_c2
func.func @cross_entropy_rows_with_too_few_labels(%x: tensor<8x4xf32>, %y: tensor<7xi64>) {
  // expected-error@+1 {{'smp.cross_entropy_rows' op expects labels of shape 8, got 7}}
  %l, %lse = smp.cross_entropy_rows %x, %y ignore -100 : tensor<8x4xf32>, tensor<7xi64> -> tensor<8xf32>
  return
}

// -----

// cross_entropy_rows_c3
func.func @cross_entropy_rows_with_too_few_results(%x: tensor<8x4xf32>, %y: tensor<8xi64>) {
  // expected-error@+1 {{'smp.cross_entropy_rows' op expects results of shape 8, got 7}}
  %l, %lse = smp.cross_entropy_rows %x, %y ignore -100 : tensor<8x4xf32>, tensor<8xi64> -> tensor<7xf32>
  return
}

// -----

// cluster_c1
func.func @cluster_with_too_few_arguments(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cluster' op expects a body argument for each operand}}
  %r = smp.cluster(%a, %b) in_place [-1] {
  ^bb0(%x: tensor<8xf32>):
    smp.yield %x : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// cluster_c2
func.func @cluster_that_yields_nothing(%a: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cluster' op expects the body to yield a value for each result}}
  %r = smp.cluster(%a) in_place [-1] {
  ^bb0(%x: tensor<8xf32>):
    smp.yield
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// cluster_c3
func.func @in_place_for_each_result(%a: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cluster' op expects 1 entries of in_place, got 0}}
  %r = smp.cluster(%a) in_place [] {
  ^bb0(%x: tensor<8xf32>):
    smp.yield %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// cluster_c3
func.func @in_place_of_an_operand(%a: tensor<8xf32>) {
  // expected-error@+1 {{'smp.cluster' op expects in_place to name an operand of type 'tensor<8xf32>' once, got 1}}
  %r = smp.cluster(%a) in_place [1] {
  ^bb0(%x: tensor<8xf32>):
    smp.yield %x : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @yield_outside_a_cluster(%a: tensor<8xf32>) {
  // expected-error@+1 {{'smp.yield' op expects parent op 'smp.cluster'}}
  smp.yield %a : tensor<8xf32>
  return
}
