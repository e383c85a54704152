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

// Strictly before, a window, and the other way round are not causal.
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
// CHECK: smp.attention {{.*}} bias {{.*}} <none>
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

// CHECK-LABEL: func.func @transposed
// CHECK: smp.attention {{.*}} bias {{.*}} <none>
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
