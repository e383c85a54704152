// RUN: smp-opt %s | smp-opt | FileCheck %s

// Sizes, constants and moves of elements: what is printed is what was parsed.

// CHECK-LABEL: func.func @dim(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x16xi64>
// CHECK-NEXT: %[[V0:.+]] = smp.dim %[[ARG0]], 0 : tensor<?x16xi64>
func.func @dim(%x: tensor<?x16xi64>) {
  %n = smp.dim %x, 0 : tensor<?x16xi64>
  return
}

// CHECK-LABEL: func.func @constant(
// CHECK-NEXT: %[[V0:.+]] = smp.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
func.func @constant() {
  %r = smp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @fill(
// CHECK-SAME: %[[ARG0:.+]]: index
// CHECK-NEXT: %[[V0:.+]] = smp.fill 1.000000e-01[%[[ARG0]]] : tensor<?x3xf32>
func.func @fill(%n: index) {
  %r = smp.fill 0.1 [%n] : tensor<?x3xf32>
  return
}

// CHECK-LABEL: func.func @fill_static(
// CHECK-NEXT: %[[V0:.+]] = smp.fill -1.000000e+00 : tensor<f64>
func.func @fill_static() {
  %r = smp.fill -1.0 : tensor<f64>
  return
}

// CHECK-LABEL: func.func @iota(
// CHECK-SAME: %[[ARG0:.+]]: index
// CHECK-NEXT: %[[V0:.+]] = smp.iota 1[%[[ARG0]]] : tensor<?x3xi64>
func.func @iota(%n: index) {
  %r = smp.iota 1 [%n] : tensor<?x3xi64>
  return
}

// CHECK-LABEL: func.func @iota_static(
// CHECK-NEXT: %[[V0:.+]] = smp.iota 0 : tensor<4xf32>
func.func @iota_static() {
  %r = smp.iota 0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @expand(
// CHECK-SAME: %[[ARG0:.+]]: tensor<3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.expand %[[ARG0]] [1] : tensor<3xf32> -> tensor<2x3xf32>
func.func @expand(%b: tensor<3xf32>) {
  %r = smp.expand %b [1] : tensor<3xf32> -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @expand_dynamic(
// CHECK-SAME: %[[ARG0:.+]]: tensor<1x3xf32>, %[[ARG1:.+]]: index
// CHECK-NEXT: %[[V0:.+]] = smp.expand %[[ARG0]] [0, 1][%[[ARG1]]] : tensor<1x3xf32> -> tensor<?x3xf32>
func.func @expand_dynamic(%b: tensor<1x3xf32>, %n: index) {
  %r = smp.expand %b [0, 1] [%n] : tensor<1x3xf32> -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.reshape %[[ARG0]] : tensor<2x3x4xf32> -> tensor<6x4xf32>
func.func @reshape(%x: tensor<2x3x4xf32>) {
  %r = smp.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: func.func @reshape_dynamic(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x3x4xf32>, %[[ARG1:.+]]: index
// CHECK-NEXT: %[[V0:.+]] = smp.reshape %[[ARG0]][%[[ARG1]]] : tensor<?x3x4xf32> -> tensor<?x4xf32>
func.func @reshape_dynamic(%b: tensor<?x3x4xf32>, %n: index) {
  %r = smp.reshape %b [%n] : tensor<?x3x4xf32> -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.transpose %[[ARG0]] [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
func.func @transpose(%x: tensor<2x3x4xf32>) {
  %r = smp.transpose %x [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  return
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.slice %[[ARG0]], 1[1 : 8 : 2] : tensor<2x8xf32> -> tensor<2x4xf32>
func.func @slice(%x: tensor<2x8xf32>) {
  %r = smp.slice %x, 1 [1 : 8 : 2] : tensor<2x8xf32> -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @slice_every_place(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x8xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.slice %[[ARG0]], 0[1 : 2] : tensor<2x8xf32> -> tensor<1x8xf32>
func.func @slice_every_place(%x: tensor<2x8xf32>) {
  %r = smp.slice %x, 0 [1 : 2] : tensor<2x8xf32> -> tensor<1x8xf32>
  return
}

// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.pad %[[ARG0]], 1 low 1 high 2 with 0.000000e+00 : tensor<2x3xf32> -> tensor<2x6xf32>
func.func @pad(%x: tensor<2x3xf32>) {
  %r = smp.pad %x, 1 low 1 high 2 with 0.0 : tensor<2x3xf32> -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: func.func @pad_between_places(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.pad %[[ARG0]], 1 low 0 high 0 interior 1 with -1.000000e+00 : tensor<2x3xf32> -> tensor<2x5xf32>
func.func @pad_between_places(%x: tensor<2x3xf32>) {
  %r = smp.pad %x, 1 low 0 high 0 interior 1 with -1.0 : tensor<2x3xf32> -> tensor<2x5xf32>
  return
}

// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[ARG0:.+]]: tensor<2x3xf32>, %[[ARG1:.+]]: tensor<2x1xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.concat %[[ARG0]], %[[ARG1]] dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) {
  %r = smp.concat %a, %b dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return
}
