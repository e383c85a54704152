// RUN: smp-opt %s --canonicalize | FileCheck %s

// Changes of layout and collectives.

// CHECK-LABEL: func.func @reshard_to_the_same_layout_is_the_operand(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @reshard_to_the_same_layout_is_the_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = smp.reshard %x from <rdp = partial> to <rdp = partial> because "x" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The sum over the ranks is made where it stands: its place is part of what a program computes.
// CHECK-LABEL: func.func @reshard_there_and_back_is_kept(
// CHECK-NEXT: smp.reshard
// CHECK-NEXT: %[[R:.+]] = smp.reshard
// CHECK-NEXT: return %[[R]]
func.func @reshard_there_and_back_is_kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = smp.reshard %x from <rdp = partial> to <> because "x" : tensor<4xf32>
  %1 = smp.reshard %0 from <> to <rdp = partial> because "x" : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The other ranks of the group wait for this one.
// CHECK-LABEL: func.func @unused_collectives_are_kept(
// CHECK-NEXT: smp.all_reduce
// CHECK-NEXT: smp.broadcast
// CHECK-NEXT: return
func.func @unused_collectives_are_kept(%x: tensor<4xf32>) {
  %0 = smp.all_reduce %x over <rdp> because "x" : tensor<4xf32>
  %1 = smp.broadcast %x over <rdp> root 0 because "x" : tensor<4xf32>
  return
}
