// RUN: smp-opt %s --smp-specialize=rows=2 | FileCheck %s

!q = tensor<2x4x16x8xf32>

// CHECK-LABEL: func.func @causal
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale
func.func @causal(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<2x1x16x16xi64>
  %j = smp.iota 3 : tensor<2x1x16x16xi64>
  %m = smp.compare le %j, %i : tensor<2x1x16x16xi64>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<2x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// As transformers builds it: positions are packed when a difference is not 1.
// CHECK-LABEL: func.func @packed_sequences
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale
func.func @packed_sequences(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 1 : tensor<2x16xi64>
  %first = smp.slice %i, 1 [0 : 1] : tensor<2x16xi64> -> tensor<2x1xi64>
  %one = smp.fill 1.0 : tensor<2x1xi64>
  %before = smp.sub %first, %one : tensor<2x1xi64>
  %all = smp.concat %before, %i dim 1 : (tensor<2x1xi64>, tensor<2x16xi64>) -> tensor<2x17xi64>
  %later = smp.slice %all, 1 [1 : 17] : tensor<2x17xi64> -> tensor<2x16xi64>
  %earlier = smp.slice %all, 1 [0 : 16] : tensor<2x17xi64> -> tensor<2x16xi64>
  %diff = smp.sub %later, %earlier : tensor<2x16xi64>
  %ones = smp.fill 1.0 : tensor<2x16xi64>
  %starts = smp.compare ne %diff, %ones : tensor<2x16xi64>
  %count = smp.cast %starts : tensor<2x16xi1> -> tensor<2x16xi64>
  %sequence = smp.cumsum %count, 1 : tensor<2x16xi64>
  %b = smp.iota 0 : tensor<2x1x16x16xi64>
  %r = smp.iota 2 : tensor<2x1x16x16xi64>
  %c = smp.iota 3 : tensor<2x1x16x16xi64>
  %sq = smp.index %sequence [%b, %r] : tensor<2x16xi64>, tensor<2x1x16x16xi64>, tensor<2x1x16x16xi64>
  %sk = smp.index %sequence [%b, %c] : tensor<2x16xi64>, tensor<2x1x16x16xi64>, tensor<2x1x16x16xi64>
  %same = smp.compare eq %sq, %sk : tensor<2x1x16x16xi64>
  %seen = smp.compare ge %r, %c : tensor<2x1x16x16xi64>
  %m = smp.and %seen, %same : tensor<2x1x16x16xi1>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<2x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// 0 where seen, else the lowest number of f32, added.
// CHECK-LABEL: func.func @additive
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale
func.func @additive(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %hidden = smp.compare gt %j, %i : tensor<1x1x16x16xi64>
  %m = smp.not %hidden : tensor<1x1x16x16xi1>
  %zero = smp.fill 0.0 : tensor<1x1x16x16xf32>
  %low = smp.fill -3.4028234663852886e+38 : tensor<1x1x16x16xf32>
  %bias = smp.select %m, %zero, %low : tensor<1x1x16x16xi1>, tensor<1x1x16x16xf32>
  %y, %l = smp.attention %q, %k, %v bias %bias : tensor<1x1x16x16xf32> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// A table of a buffer that is lower triangular.
// CHECK-LABEL: func.func @table
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale
func.func @table(%q: tensor<2x1x2x8xf32>) -> tensor<2x1x2x8xf32> {
  %t = smp.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %m = smp.reshape %t : tensor<2x2xi1> -> tensor<1x1x2x2xi1>
  %y, %l = smp.attention %q, %q, %q bias %m : tensor<1x1x2x2xi1> <none> scale 0.5 : tensor<2x1x2x8xf32>, tensor<2x1x2x8xf32>, tensor<2x1x2x8xf32>
  return %y : tensor<2x1x2x8xf32>
}

// CHECK-LABEL: func.func @always
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <none> scale
func.func @always(%q: !q, %k: !q, %v: !q) -> !q {
  %j = smp.iota 3 : tensor<1x1x1x16xi64>
  %zero = smp.fill 0.0 : tensor<1x1x1x16xi64>
  %m = smp.compare ge %j, %zero : tensor<1x1x1x16xi64>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<1x1x1x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// Row 0 would see nothing: no kind of mask says that.
// CHECK-LABEL: func.func @strictly_before
// CHECK: smp.attention {{.*}} bias {{.*}} <none>
func.func @strictly_before(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %m = smp.compare lt %j, %i : tensor<1x1x16x16xi64>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<1x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// CHECK-LABEL: func.func @window
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <window, 3, 0> scale
func.func @window(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %seen = smp.compare le %j, %i : tensor<1x1x16x16xi64>
  %d = smp.sub %i, %j : tensor<1x1x16x16xi64>
  %w = smp.fill 4.0 : tensor<1x1x16x16xi64>
  %near = smp.compare lt %d, %w : tensor<1x1x16x16xi64>
  %m = smp.and %seen, %near : tensor<1x1x16x16xi1>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<1x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// A window wider than the sequence is causal.
// CHECK-LABEL: func.func @wide_window
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale
func.func @wide_window(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %seen = smp.compare le %j, %i : tensor<1x1x16x16xi64>
  %w = smp.fill 16.0 : tensor<1x1x16x16xi64>
  %first = smp.sub %i, %w : tensor<1x1x16x16xi64>
  %near = smp.compare gt %j, %first : tensor<1x1x16x16xi64>
  %m = smp.and %seen, %near : tensor<1x1x16x16xi1>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<1x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// Both ways, from the distance.
// CHECK-LABEL: func.func @two_sided_window
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <window, 2, 2> scale
func.func @two_sided_window(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %d = smp.sub %i, %j : tensor<1x1x16x16xi64>
  %a = smp.abs %d : tensor<1x1x16x16xi64>
  %w = smp.fill 2.0 : tensor<1x1x16x16xi64>
  %m = smp.compare le %a, %w : tensor<1x1x16x16xi64>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<1x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// CHECK-LABEL: func.func @prefix
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <prefix, 5> scale
func.func @prefix(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %seen = smp.compare le %j, %i : tensor<1x1x16x16xi64>
  %n = smp.fill 5.0 : tensor<1x1x16x16xi64>
  %in = smp.compare lt %j, %n : tensor<1x1x16x16xi64>
  %m = smp.or %in, %seen : tensor<1x1x16x16xi1>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<1x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// A table of a buffer that is a band.
// CHECK-LABEL: func.func @band_table
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <window, 1, 0> scale
func.func @band_table(%q: tensor<2x1x3x8xf32>) -> tensor<2x1x3x8xf32> {
  %t = smp.constant dense<[[true, false, false], [true, true, false], [false, true, true]]> : tensor<3x3xi1>
  %m = smp.reshape %t : tensor<3x3xi1> -> tensor<1x1x3x3xi1>
  %y, %l = smp.attention %q, %q, %q bias %m : tensor<1x1x3x3xi1> <none> scale 0.5 : tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>
  return %y : tensor<2x1x3x8xf32>
}

// A table with a hole is no band.
// CHECK-LABEL: func.func @holed_table
// CHECK: smp.attention {{.*}} bias {{.*}} <none>
func.func @holed_table(%q: tensor<2x1x3x8xf32>) -> tensor<2x1x3x8xf32> {
  %t = smp.constant dense<[[true, false, false], [true, true, false], [true, false, true]]> : tensor<3x3xi1>
  %m = smp.reshape %t : tensor<3x3xi1> -> tensor<1x1x3x3xi1>
  %y, %l = smp.attention %q, %q, %q bias %m : tensor<1x1x3x3xi1> <none> scale 0.5 : tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>, tensor<2x1x3x8xf32>
  return %y : tensor<2x1x3x8xf32>
}

// T5: a learned bias, hidden where the mask says; the bias stays.
// CHECK-LABEL: func.func @learned_bias
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<1x4x16x16xf32>)
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} bias %[[BIAS]] : tensor<1x4x16x16xf32> <causal> scale
func.func @learned_bias(%q: !q, %k: !q, %v: !q, %bias: tensor<1x4x16x16xf32>) -> !q {
  %i = smp.iota 2 : tensor<2x4x16x16xi64>
  %j = smp.iota 3 : tensor<2x4x16x16xi64>
  %seen = smp.compare le %j, %i : tensor<2x4x16x16xi64>
  %all = smp.expand %bias [0, 1, 2, 3] : tensor<1x4x16x16xf32> -> tensor<2x4x16x16xf32>
  %low = smp.fill -3.4028234663852886e+38 : tensor<2x4x16x16xf32>
  %b = smp.select %seen, %all, %low : tensor<2x4x16x16xi1>, tensor<2x4x16x16xf32>
  %y, %l = smp.attention %q, %k, %v bias %b : tensor<2x4x16x16xf32> <none> scale 1.0 : !q, !q, !q
  return %y : !q
}

// The same as a sum, in a wider type than the scores.
// CHECK-LABEL: func.func @learned_bias_added
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<1x4x16x16xf32>)
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} bias %[[BIAS]] : tensor<1x4x16x16xf32> <causal> scale
func.func @learned_bias_added(%q: !q, %k: !q, %v: !q, %bias: tensor<1x4x16x16xf32>) -> !q {
  %i = smp.iota 2 : tensor<1x4x16x16xi64>
  %j = smp.iota 3 : tensor<1x4x16x16xi64>
  %seen = smp.compare le %j, %i : tensor<1x4x16x16xi64>
  %zero = smp.fill 0.0 : tensor<1x4x16x16xf32>
  %low = smp.fill -3.4028234663852886e+38 : tensor<1x4x16x16xf32>
  %m = smp.select %seen, %zero, %low : tensor<1x4x16x16xi1>, tensor<1x4x16x16xf32>
  %b = smp.add %bias, %m : tensor<1x4x16x16xf32>
  %y, %l = smp.attention %q, %k, %v bias %b : tensor<1x4x16x16xf32> <none> scale 1.0 : !q, !q, !q
  return %y : !q
}

// Zeros added to every score are no bias.
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <none> scale
func.func @zeros(%q: !q, %k: !q, %v: !q) -> !q {
  %b = smp.fill 0.0 : tensor<1x4x16x16xf32>
  %y, %l = smp.attention %q, %k, %v bias %b : tensor<1x4x16x16xf32> <none> scale 1.0 : !q, !q, !q
  return %y : !q
}

// A padding mask given as data stays, with the bias below it.
// CHECK-LABEL: func.func @padding
// CHECK: %[[B:.*]] = smp.select
// CHECK: smp.attention {{.*}} bias %[[B]] : tensor<2x4x16x16xf32> <none>
func.func @padding(%q: !q, %k: !q, %v: !q, %bias: tensor<1x4x16x16xf32>, %seen: tensor<2x16xi1>) -> !q {
  %r = smp.reshape %seen : tensor<2x16xi1> -> tensor<2x1x1x16xi1>
  %c = smp.expand %r [0, 1, 2, 3] : tensor<2x1x1x16xi1> -> tensor<2x4x16x16xi1>
  %all = smp.expand %bias [0, 1, 2, 3] : tensor<1x4x16x16xf32> -> tensor<2x4x16x16xf32>
  %low = smp.fill -3.4028234663852886e+38 : tensor<2x4x16x16xf32>
  %b = smp.select %c, %all, %low : tensor<2x4x16x16xi1>, tensor<2x4x16x16xf32>
  %y, %l = smp.attention %q, %k, %v bias %b : tensor<2x4x16x16xf32> <none> scale 1.0 : !q, !q, !q
  return %y : !q
}

// With more queries than keys some would see nothing. Adding a low number
// changes no weight there, and a mask would leave none.
// CHECK-LABEL: func.func @queries_without_keys
// CHECK: smp.attention {{.*}} bias {{.*}} <none>
func.func @queries_without_keys(%q: tensor<1x1x8x4xf32>, %k: tensor<1x1x4x4xf32>) -> tensor<1x1x8x4xf32> {
  %i = smp.iota 2 : tensor<1x1x8x4xi64>
  %j = smp.iota 3 : tensor<1x1x8x4xi64>
  %seen = smp.compare le %i, %j : tensor<1x1x8x4xi64>
  %zero = smp.fill 0.0 : tensor<1x1x8x4xf32>
  %low = smp.fill -3.4028234663852886e+38 : tensor<1x1x8x4xf32>
  %b = smp.select %seen, %zero, %low : tensor<1x1x8x4xi1>, tensor<1x1x8x4xf32>
  %y, %l = smp.attention %q, %k, %k bias %b : tensor<1x1x8x4xf32> <none> scale 0.5 : tensor<1x1x8x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
  return %y : tensor<1x1x8x4xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK-NEXT: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <window, 0, 15> scale
func.func @transposed(%q: !q, %k: !q, %v: !q) -> !q {
  %i = smp.iota 2 : tensor<1x1x16x16xi64>
  %j = smp.iota 3 : tensor<1x1x16x16xi64>
  %m = smp.compare le %j, %i : tensor<1x1x16x16xi64>
  %t = smp.transpose %m [0, 1, 3, 2] : tensor<1x1x16x16xi1> -> tensor<1x1x16x16xi1>
  %y, %l = smp.attention %q, %k, %v bias %t : tensor<1x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// Position ids as data: which keys are seen is known only at run time.
// CHECK-LABEL: func.func @data
// CHECK: smp.attention {{.*}} bias {{.*}} <none>
func.func @data(%q: !q, %k: !q, %v: !q, %ids: tensor<2x16xi64>) -> !q {
  %r = smp.reshape %ids : tensor<2x16xi64> -> tensor<2x1x16x1xi64>
  %c = smp.reshape %ids : tensor<2x16xi64> -> tensor<2x1x1x16xi64>
  %er = smp.expand %r [0, 1, 2, 3] : tensor<2x1x16x1xi64> -> tensor<2x1x16x16xi64>
  %ec = smp.expand %c [0, 1, 2, 3] : tensor<2x1x1x16xi64> -> tensor<2x1x16x16xi64>
  %m = smp.compare le %ec, %er : tensor<2x1x16x16xi64>
  %y, %l = smp.attention %q, %k, %v bias %m : tensor<2x1x16x16xi1> <none> scale 0.5 : !q, !q, !q
  return %y : !q
}

// An index that may leave the tensor is no composition of functions.
// CHECK-LABEL: func.func @out_of_range
// CHECK: smp.index
func.func @out_of_range(%x: tensor<2x4xf32>) -> tensor<4xi64> {
  %i = smp.iota 0 : tensor<4xi64>
  %one = smp.fill 1.0 : tensor<4xi64>
  %a = smp.add %i, %one : tensor<4xi64>
  %y = smp.index %i [%a] : tensor<4xi64>, tensor<4xi64>
  return %y : tensor<4xi64>
}
