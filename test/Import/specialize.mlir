// RUN: smp-opt %s --smp-specialize="rows=4 sequence=6" | FileCheck %s
// RUN: smp-opt %s --smp-specialize="rows=4 sequence=6" | smp-opt | FileCheck %s

// CHECK: module attributes {smp.rows = 4 : i64}

// Sizes go into types; what computed them is gone.
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x6x8xf32>) -> tensor<24x8xf32>
// CHECK-NEXT: %[[Y:.*]] = smp.reshape %[[X]] : tensor<4x6x8xf32> -> tensor<24x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @sizes(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %b = smp.dim %x, 0 : tensor<?x?x8xf32>
  %s = smp.dim %x, 1 : tensor<?x?x8xf32>
  %n = arith.muli %b, %s : index
  %y = smp.reshape %x [%n] : tensor<?x?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// The count of a mean is a constant.
// CHECK-LABEL: func.func @count
// CHECK-NEXT: %[[C:.*]] = smp.fill 2.000000e+01 : tensor<i64>
// CHECK-NEXT: return %[[C]]
func.func @count(%x: tensor<?x5xf32>) -> tensor<i64> {
  %b = smp.dim %x, 0 : tensor<?x5xf32>
  %one = smp.fill 1.0 [%b] : tensor<?x5xi64>
  %c = smp.reduce_sum %one [0, 1] : tensor<?x5xi64> -> tensor<i64>
  return %c : tensor<i64>
}

// Positions through arithmetic, shapes and indices are one iota.
// CHECK-LABEL: func.func @positions
// CHECK-NEXT: %[[P:.*]] = smp.iota 1 {scope = "wpe"} : tensor<1x6xi64>
// CHECK-NEXT: return %[[P]]
func.func @positions(%x: tensor<?x6xi64>) -> tensor<1x6xi64> {
  %i = smp.iota 0 : tensor<6xi64>
  %one = smp.fill 1.0 : tensor<6xi64>
  %a = smp.add %i, %one : tensor<6xi64>
  %s = smp.sub %a, %one : tensor<6xi64>
  %g = smp.gather %s, %i, 0 : tensor<6xi64>, tensor<6xi64>
  %r = smp.reshape %g {scope = "wpe"} : tensor<6xi64> -> tensor<1x6xi64>
  return %r : tensor<1x6xi64>
}

// Positions and differences that are not what they seem stay.
// CHECK-LABEL: func.func @others
// CHECK: smp.cumsum
// CHECK: smp.add
func.func @others(%x: tensor<?x6xi64>) -> (tensor<?x6xi64>, tensor<6xi64>) {
  %c = smp.cumsum %x, 1 : tensor<?x6xi64>
  %i = smp.iota 0 : tensor<6xi64>
  %two = smp.fill 2.0 : tensor<6xi64>
  %a = smp.add %i, %two : tensor<6xi64>
  return %c, %a : tensor<?x6xi64>, tensor<6xi64>
}

// Elementwise, product and loss ops infer theirs.
// CHECK-LABEL: func.func @inferred
// CHECK-SAME: -> (tensor<f32>, tensor<24x3xf32>)
// CHECK: smp.linear {{.*}} : tensor<24x8xf32>, tensor<3x8xf32>
// CHECK: smp.cast {{.*}} : tensor<24xi32> -> tensor<24xi64>
// CHECK: smp.cross_entropy {{.*}} : tensor<24x3xf32>, tensor<24xi64>
func.func @inferred(%x: tensor<?x6x8xf32>, %l: tensor<?x6xi32>, %w: tensor<3x8xf32>) -> (tensor<f32>, tensor<?x3xf32>) {
  %b = smp.dim %x, 0 : tensor<?x6x8xf32>
  %c6 = arith.constant 6 : index
  %n = arith.muli %b, %c6 : index
  %f = smp.reshape %x [%n] : tensor<?x6x8xf32> -> tensor<?x8xf32>
  %p = smp.linear %f, %w : tensor<?x8xf32>, tensor<3x8xf32>
  %t = smp.tanh %p : tensor<?x3xf32>
  %r = smp.reshape %l [%n] : tensor<?x6xi32> -> tensor<?xi32>
  %k = smp.cast %r : tensor<?xi32> -> tensor<?xi64>
  %s, %m, %e = smp.cross_entropy %t, %k ignore -100 : tensor<?x3xf32>, tensor<?xi64>
  %loss = smp.mean_loss "loss" %s by %m : tensor<f32>
  return %loss, %t : tensor<f32>, tensor<?x3xf32>
}
