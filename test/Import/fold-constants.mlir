// RUN: smp-opt %s --smp-specialize=rows=2 | FileCheck %s

// Integers that come from constants through floating numbers are computed in
// the written types: log(2) / log(4) * 4 is exactly 2 in f32.
// CHECK-LABEL: func.func @buckets
// CHECK-NEXT: %[[B:.*]] = smp.constant dense<[0, 2, 3, 4]> : tensor<4xi64>
// CHECK-NEXT: smp.embedding %{{.*}}, %[[B]]
// CHECK-NEXT: return
func.func @buckets(%table: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %i = smp.iota 0 : tensor<4xi64>
  %one = smp.fill 1.0 : tensor<4xi64>
  %n = smp.add %i, %one : tensor<4xi64>
  %f = smp.cast %n : tensor<4xi64> -> tensor<4xf32>
  %l = smp.log %f : tensor<4xf32>
  %d = smp.fill 1.3862943611198906 : tensor<4xf32>
  %q = smp.div %l, %d : tensor<4xf32>
  %c = smp.fill 4.0 : tensor<4xf32>
  %s = smp.mul %q, %c : tensor<4xf32>
  %b = smp.cast %s : tensor<4xf32> -> tensor<4xi64>
  %x = smp.embedding %table, %b : tensor<8x2xf32>, tensor<4xi64>
  return %x : tensor<4x2xf32>
}

// Integers of integers alone stay arithmetic.
// CHECK-LABEL: func.func @distances
// CHECK-NOT: smp.constant
// CHECK: smp.mul
func.func @distances() -> tensor<4xi64> {
  %i = smp.iota 0 : tensor<4xi64>
  %s = smp.mul %i, %i : tensor<4xi64>
  return %s : tensor<4xi64>
}

// What depends on data is left alone.
// CHECK-LABEL: func.func @data
// CHECK-NOT: smp.constant
// CHECK: smp.cast %{{.*}} : tensor<4xf32> -> tensor<4xi64>
func.func @data(%f: tensor<4xf32>) -> tensor<4xi64> {
  %l = smp.log %f : tensor<4xf32>
  %b = smp.cast %l : tensor<4xf32> -> tensor<4xi64>
  return %b : tensor<4xi64>
}
