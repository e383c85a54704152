// RUN: smp-opt %s | smp-opt | FileCheck %s

// Ops that draw random numbers: what is printed is what was parsed.

// CHECK-LABEL: func.func @dropout(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.dropout %[[ARG0]] probability 1.000000e-01 site 3 rows_per_sample 2 : tensor<4x8xf32>
func.func @dropout(%x: tensor<4x8xf32>) {
  %r = smp.dropout %x probability 0.1 site 3 rows_per_sample 2 : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dropout_of_one_row_per_sample(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.dropout %[[ARG0]] probability 5.000000e-01 site 1 : tensor<?x8xf32>
func.func @dropout_of_one_row_per_sample(%x: tensor<?x8xf32>) {
  %r = smp.dropout %x probability 0.5 site 1 : tensor<?x8xf32>
  return
}
