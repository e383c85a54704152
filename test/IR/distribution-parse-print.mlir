// RUN: smp-opt %s | smp-opt | FileCheck %s

// Changes of layout and collectives: what is printed is what was parsed.

// CHECK-LABEL: func.func @reshard(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.reshard %[[ARG0]] from <rdp = partial> to <> because "gradient of 'w' over the replicas" : tensor<4xf32>
func.func @reshard(%x: tensor<4xf32>) {
  %r = smp.reshard %x from <rdp = partial> to <> because "gradient of 'w' over the replicas" : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @reshard_of_a_restricted_axis(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.reshard %[[ARG0]] from <pp{0, 3} = owned(3), tp = split(0)> to <rdp = partial> because "x" : tensor<4xf32>
func.func @reshard_of_a_restricted_axis(%x: tensor<4xf32>) {
  %r = smp.reshard %x from <pp{0, 3} = owned(3), tp = split(0)> to <rdp = partial> because "x" : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @all_reduce(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.all_reduce %[[ARG0]] over <rdp> because "gradient of 'w' over the replicas" : tensor<4xf32>
func.func @all_reduce(%x: tensor<4xf32>) {
  %r = smp.all_reduce %x over <rdp> because "gradient of 'w' over the replicas" : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @all_reduce_over_two_axes(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.all_reduce %[[ARG0]] over <pp{0, 3}, rdp> because "x" : tensor<4xf32>
func.func @all_reduce_over_two_axes(%x: tensor<4xf32>) {
  %r = smp.all_reduce %x over <pp{0, 3}, rdp> because "x" : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.+]] = smp.broadcast %[[ARG0]] over <pp{0, 1}> root 1 because "tied gradient" : tensor<4xf32>
func.func @broadcast(%x: tensor<4xf32>) {
  %r = smp.broadcast %x over <pp{0, 1}> root 1 because "tied gradient" : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @axis_index(
// CHECK-NEXT: %[[V0:.+]] = smp.axis_index <rdp> : index
func.func @axis_index() {
  %i = smp.axis_index <rdp> : index
  return
}

// CHECK-LABEL: func.func @axis_index_of_a_restricted_axis(
// CHECK-NEXT: %[[V0:.+]] = smp.axis_index <pp{0, 3}> : index
func.func @axis_index_of_a_restricted_axis() {
  %i = smp.axis_index <pp{0, 3}> : index
  return
}
