// RUN: smp-opt %s | smp-opt | FileCheck %s

// Ops that choose elements by integer tensors: what is printed is what was parsed.

// CHECK-LABEL: func.func @embedding(
// CHECK-SAME: %[[ARG0:.+]]: tensor<64x8xf32>, %[[ARG1:.+]]: tensor<2x4xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.embedding %[[ARG0]], %[[ARG1]] : tensor<64x8xf32>, tensor<2x4xi64>
func.func @embedding(%t: tensor<64x8xf32>, %i: tensor<2x4xi64>) {
  %r = smp.embedding %t, %i : tensor<64x8xf32>, tensor<2x4xi64>
  return
}

// CHECK-LABEL: func.func @embedding_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x4x8xf32>, %[[ARG1:.+]]: tensor<2x4xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.embedding_grad %[[ARG0]], %[[ARG1]] rows 64 : tensor<2x4x8xf32>, tensor<2x4xi64>
func.func @embedding_grad(%c: tensor<2x4x8xf32>, %i: tensor<2x4xi64>) {
  %r = smp.embedding_grad %c, %i rows 64 : tensor<2x4x8xf32>, tensor<2x4xi64>
  return
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4x1xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.gather %[[ARG0]], %[[ARG1]], 1 : tensor<4x8xf32>, tensor<4x1xi64>
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<4x1xi64>) {
  %r = smp.gather %x, %i, 1 : tensor<4x8xf32>, tensor<4x1xi64>
  return
}

// CHECK-LABEL: func.func @gather_grad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x1xf32>, %[[ARG1:.+]]: tensor<4x1xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.gather_grad %[[ARG0]], %[[ARG1]], 1 extent 8 : tensor<4x1xf32>, tensor<4x1xi64>
func.func @gather_grad(%c: tensor<4x1xf32>, %i: tensor<4x1xi64>) {
  %r = smp.gather_grad %c, %i, 1 extent 8 : tensor<4x1xf32>, tensor<4x1xi64>
  return
}

// CHECK-LABEL: func.func @index(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8x3xf32>, %[[ARG1:.+]]: tensor<5xi64>, %[[ARG2:.+]]: tensor<5xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.index %[[ARG0]][%[[ARG1]], %[[ARG2]]] : tensor<4x8x3xf32>, tensor<5xi64>, tensor<5xi64>
func.func @index(%x: tensor<4x8x3xf32>, %i: tensor<5xi64>, %j: tensor<5xi64>) {
  %r = smp.index %x[%i, %j] : tensor<4x8x3xf32>, tensor<5xi64>, tensor<5xi64>
  return
}
