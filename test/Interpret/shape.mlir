// RUN: smp-interpret %s | FileCheck %s

// CHECK-DAG: transposed: i64 [3, 2] = 0 3 1 4 2 5
// CHECK-DAG: expanded: i64 [2, 2, 3] = 0 0 0 3 3 3 0 0 0 3 3 3
// CHECK-DAG: sliced: i64 [2, 2] = 0 2 3 5
// CHECK-DAG: padded: i64 [2, 7] = 9 0 9 1 9 2 9 9 3 9 4 9 5 9
// CHECK-DAG: sums: i64 [3] = 3 5 7
// CHECK-DAG: largest: i64 [2] = 2 5
// CHECK-DAG: running: i64 [2, 3] = 0 1 3 3 7 12
// CHECK-DAG: backward: i64 [2, 3] = 3 5 7 3 4 5
// CHECK-DAG: gathered: i64 [2, 1] = 2 3
// CHECK-DAG: indexed: i64 [2] = 5 0
// CHECK-DAG: positions: i64 [2, 3] = 0 1 2 0 1 2
module {
  func.func @train() -> (tensor<3x2xi64> {smp.name = "transposed"},
                         tensor<2x2x3xi64> {smp.name = "expanded"},
                         tensor<2x2xi64> {smp.name = "sliced"},
                         tensor<2x7xi64> {smp.name = "padded"},
                         tensor<3xi64> {smp.name = "sums"},
                         tensor<2xi64> {smp.name = "largest"},
                         tensor<2x3xi64> {smp.name = "running"},
                         tensor<2x3xi64> {smp.name = "backward"},
                         tensor<2x1xi64> {smp.name = "gathered"},
                         tensor<2xi64> {smp.name = "indexed"},
                         tensor<2x3xi64> {smp.name = "positions"}) {
    %x = smp.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>
    %transposed = smp.transpose %x [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
    %column = smp.slice %x, 1 [0 : 1] : tensor<2x3xi64> -> tensor<2x1xi64>
    %expanded = smp.expand %column [1, 2] : tensor<2x1xi64> -> tensor<2x2x3xi64>
    %sliced = smp.slice %x, 1 [0 : 3 : 2] : tensor<2x3xi64> -> tensor<2x2xi64>
    %padded = smp.pad %x, 1 low 1 high 1 interior 1 with 9.0 : tensor<2x3xi64> -> tensor<2x7xi64>
    %sums = smp.reduce_sum %x [0] : tensor<2x3xi64> -> tensor<3xi64>
    %largest = smp.reduce_max %x [1] : tensor<2x3xi64> -> tensor<2xi64>
    %running = smp.cumsum %x, 1 : tensor<2x3xi64>
    %backward = smp.cumsum %x, 0 reverse : tensor<2x3xi64>
    %indices = smp.constant dense<[[2], [0]]> : tensor<2x1xi64>
    %gathered = smp.gather %x, %indices, 1 : tensor<2x3xi64>, tensor<2x1xi64>
    %rows = smp.constant dense<[1, 0]> : tensor<2xi64>
    %columns = smp.constant dense<[2, 0]> : tensor<2xi64>
    %indexed = smp.index %x[%rows, %columns] : tensor<2x3xi64>, tensor<2xi64>, tensor<2xi64>
    %positions = smp.iota 1 : tensor<2x3xi64>
    return %transposed, %expanded, %sliced, %padded, %sums, %largest, %running, %backward, %gathered, %indexed, %positions : tensor<3x2xi64>, tensor<2x2x3xi64>, tensor<2x2xi64>, tensor<2x7xi64>, tensor<3xi64>, tensor<2xi64>, tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x1xi64>, tensor<2xi64>, tensor<2x3xi64>
  }
}
