// RUN: smp-interpret %s | FileCheck %s
// RUN: smp-interpret %s --precision=f64 | FileCheck %s --check-prefix=F64

// CHECK-DAG: arithmetic: f32 [3] = -3 4.5 0
// Rounded to f32, then not.
// CHECK-DAG: rounded: f32 [] = 0.1
// CHECK-DAG: lost: f32 [] = 0
// F64-DAG: lost: f32 [] = 1e-09
// CHECK-DAG: chosen: i64 [2] = 7 -2
// Integers keep their width whatever the precision.
// CHECK-DAG: wrapped: i32 [] = -2147483648
// F64-DAG: wrapped: i32 [] = -2147483648
// CHECK-DAG: truncated: i64 [4] = 2 -2 0 0
// CHECK-DAG: truth: bool [2] = 1 0
module {
  func.func @train() -> (tensor<3xf32> {smp.name = "arithmetic"},
                         tensor<f32> {smp.name = "rounded"},
                         tensor<f32> {smp.name = "lost"},
                         tensor<2xi64> {smp.name = "chosen"},
                         tensor<i32> {smp.name = "wrapped"},
                         tensor<4xi64> {smp.name = "truncated"},
                         tensor<2xi1> {smp.name = "truth"}) {
    %a = smp.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %b = smp.constant dense<[4.0, -1.0, 3.0]> : tensor<3xf32>
    %sub = smp.sub %a, %b : tensor<3xf32>
    %two = smp.fill 2.0 : tensor<3xf32>
    %pow = smp.maximum %sub, %two : tensor<3xf32>
    %mul = smp.mul %sub, %pow : tensor<3xf32>
    %half = smp.fill 0.5 : tensor<3xf32>
    %arithmetic = smp.mul %mul, %half : tensor<3xf32>
    %shifted = smp.maximum %arithmetic, %sub : tensor<3xf32>
    %tenth = smp.fill 0.1 : tensor<f32>
    %one = smp.fill 1.0 : tensor<f32>
    %tiny = smp.fill 1.0e-9 : tensor<f32>
    %sum = smp.add %one, %tiny : tensor<f32>
    %lost = smp.sub %sum, %one : tensor<f32>
    %i = smp.constant dense<[7, 5]> : tensor<2xi64>
    %j = smp.constant dense<[3, -2]> : tensor<2xi64>
    %which = smp.constant dense<[true, false]> : tensor<2xi1>
    %chosen = smp.select %which, %i, %j : tensor<2xi1>, tensor<2xi64>
    %big = smp.constant dense<2147483647> : tensor<i32>
    %step = smp.constant dense<1> : tensor<i32>
    %wrapped = smp.add %big, %step : tensor<i32>
    %f = smp.constant dense<[2.9, -2.9, 0.5, -0.5]> : tensor<4xf32>
    %truncated = smp.cast %f : tensor<4xf32> -> tensor<4xi64>
    %truth = smp.compare gt %i, %j : tensor<2xi64>
    %not = smp.not %truth : tensor<2xi1>
    %either = smp.or %truth, %not : tensor<2xi1>
    %both = smp.and %which, %either : tensor<2xi1>
    return %shifted, %tenth, %lost, %chosen, %wrapped, %truncated, %both : tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<2xi64>, tensor<i32>, tensor<4xi64>, tensor<2xi1>
  }
}
