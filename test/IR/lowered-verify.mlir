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

// yield_c1
func.func @yield_outside_a_cluster(%a: tensor<8xf32>) {
  // expected-error@+1 {{'smp.yield' op expects parent op 'smp.cluster'}}
  smp.yield %a : tensor<8xf32>
  return
}

// -----

// product_c4
func.func @product_of_two_element_types(%l: tensor<2x3xf32>, %r: tensor<3x4xf64>) {
  // expected-error@+1 {{'smp.product' op expects operands and result of one element type, got 'tensor<2x3xf32>' and 'tensor<3x4xf64>'}}
  %p = smp.product %l, %r transposed false, false batch 1, 1, 1 sizes 2, 4, 3 : tensor<2x3xf32>, tensor<3x4xf64> -> tensor<2x4xf32>
  return
}

// -----

// attention_softmax_c3
func.func @attention_softmax_bias_that_does_not_broadcast(%s: tensor<1x4x8x8xf32>, %b: tensor<1x4x8x7xf32>) {
  // expected-error@+1 {{'smp.attention_softmax' op expects a bias that broadcasts to 1x4x8x8, got 1x4x8x7}}
  %p, %l = smp.attention_softmax %s bias %b : tensor<1x4x8x7xf32> <none> scale 1.0 : tensor<1x4x8x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_c4
func.func @attention_softmax_that_drops_everything(%s: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax' op expects a dropout probability in [0, 1), got 1.000000e+00}}
  %p, %l = smp.attention_softmax %s <none> scale 1.0 dropout 1.0 site 1 : tensor<1x4x8x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_c5
func.func @attention_softmax_of_infinite_scale(%s: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax' op expects a finite scale, got INF}}
  %p, %l = smp.attention_softmax %s <none> scale 0x7FF0000000000000 : tensor<1x4x8x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_c6
func.func @attention_softmax_of_another_type(%s: tensor<1x4x8x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax' op failed to verify that all of {scores, result} have same type}}
  %p, %l = "smp.attention_softmax"(%s) {mask = #smp.mask<none>, scale = 1.0} : (tensor<1x4x8x8xf32>) -> (tensor<1x4x8x8xf64>, tensor<1x4x8xf32>)
  return
}

// -----

// attention_softmax_grad_c3
func.func @attention_softmax_grad_bias_that_does_not_broadcast(%s: tensor<1x4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<1x4x8xf32>, %b: tensor<4x8x8xi1>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op expects a bias that broadcasts to 1x4x8x8, got 4x8x8}}
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l bias %b : tensor<4x8x8xi1> <none> scale 1.0 : tensor<1x4x8x8xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_grad_c4
func.func @attention_softmax_grad_that_drops_less_than_nothing(%s: tensor<1x4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op expects a dropout probability in [0, 1), got -5.000000e-01}}
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l <none> scale 1.0 dropout -0.5 site 1 : tensor<1x4x8x8xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_grad_c5
func.func @attention_softmax_grad_of_infinite_scale(%s: tensor<1x4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op expects a finite scale, got -INF}}
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l <none> scale 0xFFF0000000000000 : tensor<1x4x8x8xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_grad_c6
func.func @attention_softmax_grad_of_other_rows(%s: tensor<1x4x8x8xf32>, %o: tensor<1x2x8x2xf32>, %l: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op expects an output that differs from the scores only in the last dim, got 'tensor<1x2x8x2xf32>' beside 'tensor<1x4x8x8xf32>'}}
  %w, %g = smp.attention_softmax_grad %s, %s, %o, %o, %l <none> scale 1.0 : tensor<1x4x8x8xf32>, tensor<1x2x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_softmax_grad_c7
func.func @attention_softmax_grad_of_another_type(%s: tensor<1x4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<1x4x8xf32>, %d: tensor<1x4x8x8xf64>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op failed to verify that all of {scores, weight_grad, weights, scores_grad} have same type}}
  %w, %g = "smp.attention_softmax_grad"(%s, %d, %o, %o, %l) {mask = #smp.mask<none>, scale = 1.0} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf64>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

// attention_softmax_grad_c8
func.func @attention_softmax_grad_of_another_cotangent(%s: tensor<1x4x8x8xf32>, %o: tensor<1x4x8x2xf32>, %l: tensor<1x4x8xf32>, %c: tensor<1x4x8x2xf64>) {
  // expected-error@+1 {{'smp.attention_softmax_grad' op failed to verify that all of {output, cotangent} have same type}}
  %w, %g = "smp.attention_softmax_grad"(%s, %s, %o, %c, %l) {mask = #smp.mask<none>, scale = 1.0} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf64>, tensor<1x4x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>)
  return
}

// -----

// cross_entropy_rows_c4
func.func @cross_entropy_rows_of_two_types(%x: tensor<8x4xf32>, %y: tensor<8xi64>) {
  // expected-error@+1 {{'smp.cross_entropy_rows' op failed to verify that all of {losses, lse} have same type}}
  %l, %lse = "smp.cross_entropy_rows"(%x, %y) {ignore_index = -100} : (tensor<8x4xf32>, tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf64>)
  return
}
