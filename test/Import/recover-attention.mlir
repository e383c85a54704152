// RUN: smp-opt %s --smp-recover-composites | FileCheck %s

// CHECK-LABEL: func.func @additive_bias
// CHECK-SAME: (%[[Q:[^:]*]]: tensor<2x4x16x8xf32>, %[[K:[^:]*]]: tensor<2x4x16x8xf32>, %[[V:[^:]*]]: tensor<2x4x16x8xf32>, %[[B:[^:]*]]: tensor<2x1x16x16xf32>)
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = smp.attention %[[Q]], %[[K]], %[[V]] bias %[[B]] : tensor<2x1x16x16xf32> <none> scale 2.500000e-01 dropout 1.000000e-01 site 3
// CHECK-NEXT: return %[[Y]]
func.func @additive_bias(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %bias: tensor<2x1x16x16xf32>) -> tensor<2x4x16x8xf32> {
  %t = smp.transpose %k [0, 1, 3, 2] : tensor<2x4x16x8xf32> -> tensor<2x4x8x16xf32>
  %s = smp.batch_matmul %q, %t : tensor<2x4x16x8xf32>, tensor<2x4x8x16xf32>
  %c = smp.fill 0.25 : tensor<2x4x16x16xf32>
  %m = smp.mul %s, %c : tensor<2x4x16x16xf32>
  %b = smp.expand %bias [0, 1, 2, 3] : tensor<2x1x16x16xf32> -> tensor<2x4x16x16xf32>
  %a = smp.add %m, %b : tensor<2x4x16x16xf32>
  %p = smp.softmax %a : tensor<2x4x16x16xf32>
  %d = smp.dropout %p probability 0.1 site 3 : tensor<2x4x16x16xf32>
  %y = smp.batch_matmul %d, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// Scores divided; what is not seen replaced by minus infinity.
// CHECK-LABEL: func.func @selected
// CHECK-SAME: %[[M:[^ ,:]*]]: tensor<16x16xi1>)
// CHECK: %[[E:.*]] = smp.expand %[[M]] [2, 3]
// CHECK: smp.attention %{{.*}} bias %[[E]] : tensor<2x4x16x16xi1> <none> scale 5.000000e-01
func.func @selected(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %mask: tensor<16x16xi1>) -> tensor<2x4x16x8xf32> {
  %t = smp.transpose %k [0, 1, 3, 2] : tensor<2x4x16x8xf32> -> tensor<2x4x8x16xf32>
  %s = smp.batch_matmul %q, %t : tensor<2x4x16x8xf32>, tensor<2x4x8x16xf32>
  %c = smp.fill 2.0 : tensor<2x4x16x16xf32>
  %m = smp.div %s, %c : tensor<2x4x16x16xf32>
  %e = smp.expand %mask [2, 3] : tensor<16x16xi1> -> tensor<2x4x16x16xi1>
  %low = smp.fill 0xFFF0000000000000 : tensor<2x4x16x16xf32>
  %a = smp.select %e, %m, %low : tensor<2x4x16x16xi1>, tensor<2x4x16x16xf32>
  %p = smp.softmax %a : tensor<2x4x16x16xf32>
  %y = smp.batch_matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// A finite number that still counts is no mask.
// CHECK-LABEL: func.func @finite
// CHECK-NOT: smp.attention
func.func @finite(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %mask: tensor<2x4x16x16xi1>) -> tensor<2x4x16x8xf32> {
  %t = smp.transpose %k [0, 1, 3, 2] : tensor<2x4x16x8xf32> -> tensor<2x4x8x16xf32>
  %s = smp.batch_matmul %q, %t : tensor<2x4x16x8xf32>, tensor<2x4x8x16xf32>
  %low = smp.fill -10.0 : tensor<2x4x16x16xf32>
  %a = smp.select %mask, %s, %low : tensor<2x4x16x16xi1>, tensor<2x4x16x16xf32>
  %p = smp.softmax %a : tensor<2x4x16x16xf32>
  %y = smp.batch_matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %y : tensor<2x4x16x8xf32>
}

// Several terms are one bias, in the order in which they were added.
// CHECK-LABEL: func.func @several_terms
// CHECK-SAME: %[[A:[^ ,:]*]]: tensor<2x4x16x16xf32>, %[[B:[^ ,:]*]]: tensor<2x4x16x16xf32>)
// CHECK: %[[SUM:.*]] = smp.add %[[A]], %[[B]]
// CHECK: smp.attention %{{.*}} bias %[[SUM]] : tensor<2x4x16x16xf32> <none> scale 1.000000e+00
func.func @several_terms(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %a: tensor<2x4x16x16xf32>, %b: tensor<2x4x16x16xf32>) -> tensor<2x4x16x8xf32> {
  %t = smp.transpose %k [0, 1, 3, 2] : tensor<2x4x16x8xf32> -> tensor<2x4x8x16xf32>
  %s = smp.batch_matmul %q, %t : tensor<2x4x16x8xf32>, tensor<2x4x8x16xf32>
  %x = smp.add %s, %a : tensor<2x4x16x16xf32>
  %y = smp.add %b, %x : tensor<2x4x16x16xf32>
  %p = smp.softmax %y : tensor<2x4x16x16xf32>
  %r = smp.batch_matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %r : tensor<2x4x16x8xf32>
}

// The factor of a term is not the scale of the scores.
// CHECK-LABEL: func.func @scaled_term
// CHECK: %[[B:.*]] = smp.mul
// CHECK: smp.attention %{{.*}} bias %[[B]] : tensor<2x4x16x16xf32> <none> scale 1.000000e+00
func.func @scaled_term(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %a: tensor<2x4x16x16xf32>) -> tensor<2x4x16x8xf32> {
  %t = smp.transpose %k [0, 1, 3, 2] : tensor<2x4x16x8xf32> -> tensor<2x4x8x16xf32>
  %s = smp.batch_matmul %q, %t : tensor<2x4x16x8xf32>, tensor<2x4x8x16xf32>
  %two = smp.fill 2.0 : tensor<2x4x16x16xf32>
  %b = smp.mul %a, %two : tensor<2x4x16x16xf32>
  %x = smp.add %b, %s : tensor<2x4x16x16xf32>
  %p = smp.softmax %x : tensor<2x4x16x16xf32>
  %r = smp.batch_matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %r : tensor<2x4x16x8xf32>
}
