// RUN: smp-opt %s --canonicalize | FileCheck %s

// Sizes, constants and moves of elements: moves of moves are one, those that change nothing are none.

// CHECK-LABEL: func.func @dim_of_a_static_size_is_a_constant(
// CHECK-NEXT: %[[N:.+]] = arith.constant 16 : index
// CHECK-NEXT: return %[[N]]
func.func @dim_of_a_static_size_is_a_constant(%x: tensor<?x16xi64>) -> index {
  %n = smp.dim %x, 1 : tensor<?x16xi64>
  return %n : index
}

// CHECK-LABEL: func.func @dim_of_a_sized_op_is_its_size(
// CHECK-SAME: %[[M:.+]]: index, %[[N:.+]]: index
// CHECK-NEXT: return %[[M]], %[[N]]
func.func @dim_of_a_sized_op_is_its_size(%m: index, %n: index) -> (index, index) {
  %x = smp.fill 1.0 [%m, %n] : tensor<?x3x?xf32>
  %0 = smp.dim %x, 0 : tensor<?x3x?xf32>
  %1 = smp.dim %x, 2 : tensor<?x3x?xf32>
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @dim_arithmetic_is_folded(
// CHECK-NEXT: %[[N:.+]] = arith.constant 26 : index
// CHECK-NEXT: return %[[N]]
func.func @dim_arithmetic_is_folded(%x: tensor<4x6xf32>) -> index {
  %two = arith.constant 2 : index
  %0 = smp.dim %x, 0 : tensor<4x6xf32>
  %1 = smp.dim %x, 1 : tensor<4x6xf32>
  %2 = arith.muli %0, %1 : index
  %3 = arith.addi %2, %two : index
  return %3 : index
}

// CHECK-LABEL: func.func @constant_of_the_same_elements_is_one(
// CHECK-NEXT: %[[C:.+]] = smp.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @constant_of_the_same_elements_is_one() -> (tensor<2xi64>, tensor<2xi64>) {
  %0 = smp.constant dense<[1, 2]> : tensor<2xi64>
  %1 = smp.constant dense<[1, 2]> : tensor<2xi64>
  return %0, %1 : tensor<2xi64>, tensor<2xi64>
}

//===----------------------------------------------------------------------===//
// Expand
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @expand_to_the_same_shape_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @expand_to_the_same_shape_is_the_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = smp.expand %x [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @expand_of_a_uniform_constant_is_a_constant(
// CHECK-NEXT: %[[R:.+]] = smp.constant dense<2.500000e-01> : tensor<2x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @expand_of_a_uniform_constant_is_a_constant() -> tensor<2x3xf32> {
  %0 = smp.constant dense<0.25> : tensor<f32>
  %1 = smp.expand %0 [] : tensor<f32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @expand_of_other_constants_is_kept(
// CHECK: %[[R:.+]] = smp.expand
// CHECK-NEXT: return %[[R]]
func.func @expand_of_other_constants_is_kept() -> tensor<2x3xf32> {
  %0 = smp.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  %1 = smp.expand %0 [1] : tensor<3xf32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @expand_of_a_fill_is_a_fill(
// CHECK-SAME: %[[N:.+]]: index
// CHECK-NEXT: %[[R:.+]] = smp.fill 1.000000e-01[%[[N]]] {scope = "a"} : tensor<?x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @expand_of_a_fill_is_a_fill(%n: index) -> tensor<?x3xf32> {
  %0 = smp.fill 0.1 : tensor<f32>
  %1 = smp.expand %0 [] [%n] {scope = "a"} : tensor<f32> -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @expand_of_an_expand_is_one(
// CHECK-SAME: %[[X:.+]]: tensor<1x3xf32>
// CHECK-NEXT: %[[R:.+]] = smp.expand %[[X]] [0, 3] : tensor<1x3xf32> -> tensor<2x5x4x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @expand_of_an_expand_is_one(%x: tensor<1x3xf32>) -> tensor<2x5x4x3xf32> {
  %0 = smp.expand %x [0, 2] : tensor<1x3xf32> -> tensor<2x4x3xf32>
  %1 = smp.expand %0 [0, 2, 3] : tensor<2x4x3xf32> -> tensor<2x5x4x3xf32>
  return %1 : tensor<2x5x4x3xf32>
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @reshape_to_the_same_shape_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @reshape_to_the_same_shape_is_the_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = smp.reshape %x : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reshape_of_a_reshape_is_one(
// CHECK-SAME: %[[X:.+]]: tensor<2x6xf32>
// CHECK-NEXT: %[[R:.+]] = smp.reshape %[[X]] : tensor<2x6xf32> -> tensor<4x3xf32>
// CHECK-NEXT: return %[[R]], %[[X]]
func.func @reshape_of_a_reshape_is_one(%x: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
  %0 = smp.reshape %x : tensor<2x6xf32> -> tensor<12xf32>
  %1 = smp.reshape %0 : tensor<12xf32> -> tensor<4x3xf32>
  %2 = smp.reshape %0 : tensor<12xf32> -> tensor<2x6xf32>
  return %1, %2 : tensor<4x3xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: func.func @reshape_of_uniform_elements_is_none(
// CHECK-DAG: %[[A:.+]] = smp.constant dense<7> : tensor<6xi64>
// CHECK-DAG: %[[B:.+]] = smp.fill 1.000000e-01 : tensor<6xf32>
// CHECK: return %[[A]], %[[B]]
func.func @reshape_of_uniform_elements_is_none() -> (tensor<6xi64>, tensor<6xf32>) {
  %0 = smp.constant dense<7> : tensor<2x3xi64>
  %1 = smp.reshape %0 : tensor<2x3xi64> -> tensor<6xi64>
  %2 = smp.fill 0.1 : tensor<2x3xf32>
  %3 = smp.reshape %2 : tensor<2x3xf32> -> tensor<6xf32>
  return %1, %3 : tensor<6xi64>, tensor<6xf32>
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @transpose_to_the_same_order_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @transpose_to_the_same_order_is_the_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = smp.transpose %x [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @transpose_of_a_transpose_is_one(
// CHECK-SAME: %[[X:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: %[[R:.+]] = smp.transpose %[[X]] [2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
// CHECK-NEXT: return %[[R]]
func.func @transpose_of_a_transpose_is_one(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %0 = smp.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = smp.transpose %0 [1, 0, 2] : tensor<3x4x2xf32> -> tensor<4x3x2xf32>
  return %1 : tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @transpose_there_and_back_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x3x4xf32>
// CHECK-NEXT: return %[[X]]
func.func @transpose_there_and_back_is_the_operand(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = smp.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = smp.transpose %0 [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @transpose_of_uniform_elements_is_none(
// CHECK-DAG: %[[A:.+]] = smp.constant dense<7> : tensor<3x2xi64>
// CHECK-DAG: %[[B:.+]] = smp.fill 1.000000e-01 : tensor<3x2xf32>
// CHECK: return %[[A]], %[[B]]
func.func @transpose_of_uniform_elements_is_none() -> (tensor<3x2xi64>, tensor<3x2xf32>) {
  %0 = smp.constant dense<7> : tensor<2x3xi64>
  %1 = smp.transpose %0 [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
  %2 = smp.fill 0.1 : tensor<2x3xf32>
  %3 = smp.transpose %2 [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return %1, %3 : tensor<3x2xi64>, tensor<3x2xf32>
}

// Its size is not known under the other order.
// CHECK-LABEL: func.func @transpose_of_a_dynamic_fill_is_kept(
// CHECK: %[[R:.+]] = smp.transpose
// CHECK-NEXT: return %[[R]]
func.func @transpose_of_a_dynamic_fill_is_kept(%n: index) -> tensor<3x?xf32> {
  %0 = smp.fill 0.1 [%n] : tensor<?x3xf32>
  %1 = smp.transpose %0 [1, 0] : tensor<?x3xf32> -> tensor<3x?xf32>
  return %1 : tensor<3x?xf32>
}

//===----------------------------------------------------------------------===//
// Slice, pad, concat
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @slice_of_everything_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @slice_of_everything_is_the_operand(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = smp.slice %x, 1 [0 : 8] : tensor<2x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// Places 2, 4, 6 of 8; of these the second and third: 4 and 6.
// CHECK-LABEL: func.func @slice_of_a_slice_is_one(
// CHECK-SAME: %[[X:.+]]: tensor<8xf32>
// CHECK-NEXT: %[[R:.+]] = smp.slice %[[X]], 0[4 : 7 : 2] : tensor<8xf32> -> tensor<2xf32>
// CHECK-NEXT: return %[[R]]
func.func @slice_of_a_slice_is_one(%x: tensor<8xf32>) -> tensor<2xf32> {
  %0 = smp.slice %x, 0 [2 : 8 : 2] : tensor<8xf32> -> tensor<3xf32>
  %1 = smp.slice %0, 0 [1 : 3] : tensor<3xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @slice_of_nothing_of_a_slice_is_kept(
// CHECK-NEXT: smp.slice
// CHECK-NEXT: smp.slice
func.func @slice_of_nothing_of_a_slice_is_kept(%x: tensor<5xf32>) -> tensor<0xf32> {
  %0 = smp.slice %x, 0 [0 : 5 : 2] : tensor<5xf32> -> tensor<3xf32>
  %1 = smp.slice %0, 0 [3 : 3] : tensor<3xf32> -> tensor<0xf32>
  return %1 : tensor<0xf32>
}

// CHECK-LABEL: func.func @slice_along_another_dim_is_kept(
// CHECK-NEXT: smp.slice
// CHECK-NEXT: smp.slice
func.func @slice_along_another_dim_is_kept(%x: tensor<4x4xf32>) -> tensor<2x2xf32> {
  %0 = smp.slice %x, 0 [0 : 2] : tensor<4x4xf32> -> tensor<2x4xf32>
  %1 = smp.slice %0, 1 [0 : 2] : tensor<2x4xf32> -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @slice_of_uniform_elements_is_none(
// CHECK-DAG: %[[A:.+]] = smp.constant dense<7> : tensor<2xi64>
// CHECK-DAG: %[[B:.+]] = smp.fill 1.000000e-01 : tensor<2xf32>
// CHECK: return %[[A]], %[[B]]
func.func @slice_of_uniform_elements_is_none() -> (tensor<2xi64>, tensor<2xf32>) {
  %0 = smp.constant dense<7> : tensor<3xi64>
  %1 = smp.slice %0, 0 [1 : 3] : tensor<3xi64> -> tensor<2xi64>
  %2 = smp.fill 0.1 : tensor<3xf32>
  %3 = smp.slice %2, 0 [1 : 3] : tensor<3xf32> -> tensor<2xf32>
  return %1, %3 : tensor<2xi64>, tensor<2xf32>
}

// CHECK-LABEL: func.func @pad_by_nothing_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @pad_by_nothing_is_the_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = smp.pad %x, 1 low 0 high 0 with 1.0 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @concat_of_one_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]]
func.func @concat_of_one_is_the_operand(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = smp.concat %x dim 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @concat_drops_empty_operands(
// CHECK-SAME: %[[E:.+]]: tensor<2x0xf32>, %[[X:.+]]: tensor<2x3xf32>, %[[Y:.+]]: tensor<2x1xf32>
// CHECK-NEXT: %[[R:.+]] = smp.concat %[[X]], %[[Y]] dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @concat_drops_empty_operands(%e: tensor<2x0xf32>, %x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> {
  %0 = smp.concat %e, %x, %e, %y dim 1 : (tensor<2x0xf32>, tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @slice_of_a_concat_is_of_its_parts(
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>, %[[Y:.+]]: tensor<?x4xf32>, %[[Z:.+]]: tensor<?x1xf32>
// CHECK-NEXT: return %[[Y]]
func.func @slice_of_a_concat_is_of_its_parts(%x: tensor<?x3xf32>, %y: tensor<?x4xf32>, %z: tensor<?x1xf32>) -> tensor<?x4xf32> {
  %0 = smp.concat %x, %y, %z dim 1 : (tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %1 = smp.slice %0, 1 [3 : 7] : tensor<?x8xf32> -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// Places 1, 3, 5 and 7: the second of x, the first and third of y, and z.
// CHECK-LABEL: func.func @slice_with_steps_of_a_concat_is_a_concat(
// CHECK-SAME: %[[X:.+]]: tensor<3xf32>, %[[Y:.+]]: tensor<4xf32>, %[[Z:.+]]: tensor<1xf32>
// CHECK-NEXT: %[[A:.+]] = smp.slice %[[X]], 0[1 : 2 : 2] : tensor<3xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[B:.+]] = smp.slice %[[Y]], 0[0 : 3 : 2] : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: %[[R:.+]] = smp.concat %[[A]], %[[B]], %[[Z]] dim 0
// CHECK-NEXT: return %[[R]]
func.func @slice_with_steps_of_a_concat_is_a_concat(%x: tensor<3xf32>, %y: tensor<4xf32>, %z: tensor<1xf32>) -> tensor<4xf32> {
  %0 = smp.concat %x, %y, %z dim 0 : (tensor<3xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<8xf32>
  %1 = smp.slice %0, 0 [1 : 8 : 2] : tensor<8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @slice_of_a_concat_of_another_dim_is_kept(
// CHECK-NEXT: smp.concat
// CHECK-NEXT: smp.slice
func.func @slice_of_a_concat_of_another_dim_is_kept(%x: tensor<2x3xf32>) -> tensor<1x6xf32> {
  %0 = smp.concat %x, %x dim 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = smp.slice %0, 0 [1 : 2] : tensor<2x6xf32> -> tensor<1x6xf32>
  return %1 : tensor<1x6xf32>
}

// CHECK-LABEL: func.func @concat_of_all_slices_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<?x5xf32>
// CHECK-NEXT: return %[[X]]
func.func @concat_of_all_slices_is_the_operand(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %0 = smp.slice %x, 1 [0 : 2] : tensor<?x5xf32> -> tensor<?x2xf32>
  %1 = smp.slice %x, 1 [2 : 3] : tensor<?x5xf32> -> tensor<?x1xf32>
  %2 = smp.slice %x, 1 [3 : 5] : tensor<?x5xf32> -> tensor<?x2xf32>
  %3 = smp.concat %0, %1, %2 dim 1 : (tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf32>) -> tensor<?x5xf32>
  return %3 : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @concat_of_slices_that_are_apart_is_kept(
// CHECK-NEXT: smp.slice
// CHECK-NEXT: smp.slice
// CHECK-NEXT: smp.concat
func.func @concat_of_slices_that_are_apart_is_kept(%x: tensor<5xf32>) -> tensor<4xf32> {
  %0 = smp.slice %x, 0 [0 : 2] : tensor<5xf32> -> tensor<2xf32>
  %1 = smp.slice %x, 0 [3 : 5] : tensor<5xf32> -> tensor<2xf32>
  %2 = smp.concat %0, %1 dim 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
