// RUN: smp-opt %s --canonicalize | FileCheck %s

// Ops that draw random numbers.

// CHECK-LABEL: func.func @dropout_of_nothing_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @dropout_of_nothing_is_the_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = smp.dropout %x probability 0.0 site 1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @dropout_of_something_is_kept(
// CHECK-NEXT: %[[R:.+]] = smp.dropout
// CHECK-NEXT: return %[[R]]
func.func @dropout_of_something_is_kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = smp.dropout %x probability 0.5 site 1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
