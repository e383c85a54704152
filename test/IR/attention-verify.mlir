// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Attention and what belongs to it: what violates a constraint, whose id stands above it, is refused.

// attention_c1
func.func @attention_of_rank_three(%q: tensor<1x4x8x2xf32>, %k: tensor<4x8x2xf32>, %v: tensor<1x4x8x2xf32>) {
  // expected-error@+1 {{'smp.attention' op expects query, key and value of rank 4, got 'tensor<1x4x8x2xf32>', 'tensor<4x8x2xf32>' and 'tensor<1x4x8x2xf32>'}}
  %r, %lse = smp.attention %q, %k, %v <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<4x8x2xf32>, tensor<1x4x8x2xf32>
  return
}

// -----

// attention_c2
func.func @attention_of_other_head_sizes(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x3xf32>, %v: tensor<1x4x8x2xf32>) {
  // expected-error@+1 {{'smp.attention' op expects query and key of equal batch and head size, got 'tensor<1x4x8x2xf32>' and 'tensor<1x4x8x3xf32>'}}
  %r, %lse = smp.attention %q, %k, %v <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x3xf32>, tensor<1x4x8x2xf32>
  return
}

// -----

// attention_c3
func.func @attention_of_fewer_values(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x7x2xf32>) {
  // expected-error@+1 {{'smp.attention' op expects key and value that differ only in the last dim, got 'tensor<1x4x8x2xf32>' and 'tensor<1x4x7x2xf32>'}}
  %r, %lse = smp.attention %q, %k, %v <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x7x2xf32>
  return
}

// -----

// attention_c4
func.func @attention_heads_that_do_not_divide(%q: tensor<1x4x8x2xf32>, %k: tensor<1x3x8x2xf32>, %v: tensor<1x3x8x2xf32>) {
  // expected-error@+1 {{'smp.attention' op expects a number of key heads that divides the 4 query heads, got 3}}
  %r, %lse = smp.attention %q, %k, %v <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x3x8x2xf32>, tensor<1x3x8x2xf32>
  return
}

// -----

// attention_c5
func.func @attention_bias_that_does_not_broadcast(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x8x2xf32>, %b: tensor<1x4x8x7xf32>) {
  // expected-error@+1 {{'smp.attention' op expects a bias that broadcasts to 1x4x8x8, got 1x4x8x7}}
  %r, %lse = smp.attention %q, %k, %v bias %b : tensor<1x4x8x7xf32> <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>
  return
}

// -----

// attention_c6
func.func @attention_that_drops_everything(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x8x2xf32>) {
  // expected-error@+1 {{'smp.attention' op expects a dropout probability in [0, 1), got 1.000000e+00}}
  %r, %lse = smp.attention %q, %k, %v <none> scale 1.0 dropout 1.0 site 1 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>
  return
}

// -----

// attention_grad_c1
func.func @attention_grad_of_rank_three(%q: tensor<1x4x8x2xf32>, %k: tensor<4x8x2xf32>, %v: tensor<1x4x8x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects query, key and value of rank 4, got 'tensor<1x4x8x2xf32>', 'tensor<4x8x2xf32>' and 'tensor<1x4x8x2xf32>'}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c2
func.func @attention_grad_of_other_head_sizes(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x3xf32>, %v: tensor<1x4x8x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects query and key of equal batch and head size, got 'tensor<1x4x8x2xf32>' and 'tensor<1x4x8x3xf32>'}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x3xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c3
func.func @attention_grad_of_fewer_values(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x7x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects key and value that differ only in the last dim, got 'tensor<1x4x8x2xf32>' and 'tensor<1x4x7x2xf32>'}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x7x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c4
func.func @attention_grad_heads_that_do_not_divide(%q: tensor<1x4x8x2xf32>, %k: tensor<1x3x8x2xf32>, %v: tensor<1x3x8x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects a number of key heads that divides the 4 query heads, got 3}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x3x8x2xf32>, tensor<1x3x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c5
func.func @attention_grad_bias_that_does_not_broadcast(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x8x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>, %b: tensor<1x4x8x7xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects a bias that broadcasts to 1x4x8x8, got 1x4x8x7}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse bias %b : tensor<1x4x8x7xf32> <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c6
func.func @attention_grad_that_drops_everything(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x8x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects a dropout probability in [0, 1), got 1.000000e+00}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 dropout 1.0 site 1 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c7
func.func @attention_grad_of_another_output(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x8x2xf32>, %o: tensor<1x4x8x3xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects output of shape 1x4x8x2, got 1x4x8x3}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x3xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c8
func.func @attention_grad_of_fewer_rows(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf32>, %v: tensor<1x4x8x2xf32>, %o: tensor<1x4x8x2xf32>, %lse: tensor<1x4x7xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects lse of shape 1x4x8, got 1x4x7}}
  %a, %c, %d = smp.attention_grad %o, %q, %k, %v, %o, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x7xf32>
  return
}

// -----

// attention_grad_c12
func.func @bias_gradient_without_bias(%q: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects a bias of floating numbers for 'bias_gradient', got none}}
  %r:3 = "smp.attention_grad"(%q, %q, %q, %q, %q, %lse) <{bias_gradient, mask = #smp.mask<none>, scale = 1.0 : f64}> : (tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>)
  return
}

// -----

// attention_grad_c12
func.func @bias_gradient_of_a_mask(%q: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>, %m: tensor<1x4x8x8xi1>) {
  // expected-error@+1 {{'smp.attention_grad' op expects a bias of floating numbers for 'bias_gradient', got one of i1}}
  %r:3 = "smp.attention_grad"(%q, %q, %q, %q, %q, %lse, %m) <{bias_gradient, mask = #smp.mask<none>, scale = 1.0 : f64}> : (tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>, tensor<1x4x8x8xi1>) -> (tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>)
  return
}

// -----

// mask_c1
// expected-error@+1 {{expects numbers of keys of at least 0 in a mask, got -1}}
func.func private @window_of_no_keys() attributes { test.mask = #smp.mask<window, -1, 0> }

// -----

// rotary_embedding_c1
func.func @rotation_of_an_odd_size(%x: tensor<8x3xf32>, %c: tensor<8x1xf32>) {
  // expected-error@+1 {{'smp.rotary_embedding' op expects an operand [..., S, D] with even D, got 'tensor<8x3xf32>'}}
  %r = smp.rotary_embedding %x, %c, %c : tensor<8x3xf32>, tensor<8x1xf32>
  return
}

// -----

// rotary_embedding_c2
func.func @rotation_by_too_many_angles(%x: tensor<8x4xf32>, %c: tensor<8x4xf32>) {
  // expected-error@+1 {{'smp.rotary_embedding' op expects cosine and sine of shape 8x2, got 8x4}}
  %r = smp.rotary_embedding %x, %c, %c : tensor<8x4xf32>, tensor<8x4xf32>
  return
}

// -----

// attention_c7
func.func @attention_of_two_element_types(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf64>) {
  // expected-error@+1 {{'smp.attention' op expects query, key and value of one element type, got 'tensor<1x4x8x2xf32>' and 'tensor<1x4x8x2xf64>'}}
  %r, %lse = smp.attention %q, %k, %q <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf64>, tensor<1x4x8x2xf32>
  return
}

// -----

// attention_c8
func.func @attention_of_infinite_scale(%q: tensor<1x4x8x2xf32>) {
  // expected-error@+1 {{'smp.attention' op expects a finite scale, got INF}}
  %r, %lse = smp.attention %q, %q, %q <none> scale 0x7FF0000000000000 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>
  return
}

// -----

// attention_grad_c9
func.func @attention_grad_of_two_element_types(%q: tensor<1x4x8x2xf32>, %k: tensor<1x4x8x2xf64>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects query, key, value and output of one element type, got 'tensor<1x4x8x2xf32>' and 'tensor<1x4x8x2xf64>'}}
  %a, %c, %d = smp.attention_grad %q, %q, %k, %q, %q, %lse <none> scale 1.0 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf64>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c10
func.func @attention_grad_of_a_scale_that_is_no_number(%q: tensor<1x4x8x2xf32>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op expects a finite scale, got nan}}
  %a, %c, %d = smp.attention_grad %q, %q, %q, %q, %q, %lse <none> scale 0x7FF8000000000000 : tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>
  return
}

// -----

// attention_grad_c11
func.func @attention_grad_of_another_cotangent(%q: tensor<1x4x8x2xf32>, %c: tensor<1x4x8x2xf64>, %lse: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'smp.attention_grad' op failed to verify that all of {cotangent, output} have same type}}
  %a, %b, %d = "smp.attention_grad"(%c, %q, %q, %q, %q, %lse) {mask = #smp.mask<none>, scale = 1.0} : (tensor<1x4x8x2xf64>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>, tensor<1x4x8x2xf32>)
  return
}

// -----

// rotary_embedding_c3
func.func @rotation_to_another_type(%x: tensor<8x4xf32>, %c: tensor<8x2xf32>) {
  // expected-error@+1 {{'smp.rotary_embedding' op failed to verify that all of {operand, result} have same type}}
  %r = "smp.rotary_embedding"(%x, %c, %c) : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf64>
  return
}

// -----

// rotary_embedding_c4
func.func @rotation_by_a_sine_of_another_type(%x: tensor<8x4xf32>, %c: tensor<8x2xf32>, %s: tensor<8x2xf64>) {
  // expected-error@+1 {{'smp.rotary_embedding' op failed to verify that all of {cosine, sine} have same type}}
  %r = "smp.rotary_embedding"(%x, %c, %s) : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x2xf64>) -> tensor<8x4xf32>
  return
}
