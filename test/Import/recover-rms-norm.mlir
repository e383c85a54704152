// RUN: smp-opt %s --smp-recover-composites | FileCheck %s

// CHECK-LABEL: func.func @weighted
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x16x32xf32>, %[[W:[^:]*]]: tensor<32xf32>)
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = smp.rms_norm %[[X]] weight %[[W]] : tensor<32xf32> epsilon 9.9999999999999995E-7 {scope = "norm"}
// CHECK-NEXT: return %[[Y]]
func.func @weighted(%x: tensor<?x16x32xf32>, %w: tensor<32xf32>) -> tensor<?x16x32xf32> {
  %b = smp.dim %x, 0 : tensor<?x16x32xf32>
  %two = smp.fill 2.0 [%b] : tensor<?x16x32xf32>
  %p = smp.pow %x, %two : tensor<?x16x32xf32>
  %s = smp.reduce_sum %p [2] : tensor<?x16x32xf32> -> tensor<?x16xf32>
  %k = smp.reshape %s [%b] : tensor<?x16xf32> -> tensor<?x16x1xf32>
  %n = smp.fill 32.0 [%b] : tensor<?x16x1xf32>
  %m = smp.div %k, %n : tensor<?x16x1xf32>
  %e = smp.fill 9.9999999999999995E-7 [%b] : tensor<?x16x1xf32>
  %a = smp.add %m, %e : tensor<?x16x1xf32>
  %r = smp.rsqrt %a : tensor<?x16x1xf32>
  %f = smp.expand %r [0, 1, 2] [%b] : tensor<?x16x1xf32> -> tensor<?x16x32xf32>
  %y = smp.mul %x, %f {scope = "norm"} : tensor<?x16x32xf32>
  %v = smp.expand %w [2] [%b] : tensor<32xf32> -> tensor<?x16x32xf32>
  %z = smp.mul %v, %y {scope = "norm"} : tensor<?x16x32xf32>
  return %z : tensor<?x16x32xf32>
}

// The mean as a product, the square as a product.
// CHECK-LABEL: func.func @other_spelling
// CHECK: smp.rms_norm %{{.*}} epsilon 1.000000e-05
func.func @other_spelling(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = smp.mul %x, %x : tensor<4x8xf32>
  %s = smp.reduce_sum %p [1] : tensor<4x8xf32> -> tensor<4xf32>
  %n = smp.fill 0.125 : tensor<4xf32>
  %m = smp.mul %n, %s : tensor<4xf32>
  %e = smp.fill 1.0e-5 : tensor<4xf32>
  %a = smp.add %e, %m : tensor<4xf32>
  %r = smp.rsqrt %a : tensor<4xf32>
  %k = smp.reshape %r : tensor<4xf32> -> tensor<4x1xf32>
  %f = smp.expand %k [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %y = smp.mul %f, %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Divided by another number than the size: no mean.
// CHECK-LABEL: func.func @not_a_mean
// CHECK-NOT: smp.rms_norm
func.func @not_a_mean(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = smp.mul %x, %x : tensor<4x8xf32>
  %s = smp.reduce_sum %p [1] : tensor<4x8xf32> -> tensor<4xf32>
  %n = smp.fill 7.0 : tensor<4xf32>
  %m = smp.div %s, %n : tensor<4xf32>
  %e = smp.fill 1.0e-5 : tensor<4xf32>
  %a = smp.add %m, %e : tensor<4xf32>
  %r = smp.rsqrt %a : tensor<4xf32>
  %k = smp.reshape %r : tensor<4xf32> -> tensor<4x1xf32>
  %f = smp.expand %k [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %y = smp.mul %x, %f : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// The square of another tensor.
// CHECK-LABEL: func.func @not_its_own_root
// CHECK-NOT: smp.rms_norm
func.func @not_its_own_root(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = smp.mul %o, %o : tensor<4x8xf32>
  %s = smp.reduce_sum %p [1] : tensor<4x8xf32> -> tensor<4xf32>
  %n = smp.fill 8.0 : tensor<4xf32>
  %m = smp.div %s, %n : tensor<4xf32>
  %e = smp.fill 1.0e-5 : tensor<4xf32>
  %a = smp.add %m, %e : tensor<4xf32>
  %r = smp.rsqrt %a : tensor<4xf32>
  %k = smp.reshape %r : tensor<4xf32> -> tensor<4x1xf32>
  %f = smp.expand %k [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %y = smp.mul %x, %f : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
