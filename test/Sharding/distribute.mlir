// RUN: smp-opt %s --smp-distribute --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not smp-opt %s --smp-distribute --split-input-file --remarks-filter=distribute 2>&1 | FileCheck %s --check-prefix=REMARK

module attributes {smp.pp = 4 : i64} {
  // CHECK-LABEL: func.func @partial_becomes_all_reduce(
  // CHECK-SAME:      %[[X:.*]]: tensor<4xf32>
  func.func @partial_becomes_all_reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[Y:.*]] = smp.all_reduce %[[X]] over <rdp> because "gradient"
    // REMARK: smp.all_reduce over #smp.group<rdp> because gradient{{.*}}bytes=16
    // CHECK: return %[[Y]]
    %0 = smp.reshard %x from <rdp = partial> to <> because "gradient" : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @partial_over_two_axes_is_one_all_reduce
  func.func @partial_over_two_axes_is_one_all_reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: smp.all_reduce %{{.*}} over <pp, rdp> because "sum"
    // CHECK-NOT: smp.all_reduce
    %0 = smp.reshard %x from <pp = partial, rdp = partial> to <> because "sum" : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @owned_becomes_broadcast_from_its_place_in_the_group
  func.func @owned_becomes_broadcast_from_its_place_in_the_group(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: smp.broadcast %{{.*}} over <pp{0, 3}> root 1 because "tied"
    %0 = smp.reshard %x from <pp{0, 3} = owned(3)> to <> because "tied" : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @sum_comes_before_broadcast
  func.func @sum_comes_before_broadcast(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: %[[S:.*]] = smp.all_reduce %{{.*}} over <rdp>
    // CHECK: smp.broadcast %[[S]] over <pp> root 2
    %0 = smp.reshard %x from <pp = owned(2), rdp = partial> to <> because "both" : tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @chain_is_one_change
  func.func @chain_is_one_change(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: smp.all_reduce %{{.*}} over <pp, rdp>
    // CHECK-NOT: smp.all_reduce
    %0 = smp.reshard %x from <pp = partial, rdp = partial> to <rdp = partial> because "first" : tensor<4xf32>
    %1 = smp.reshard %0 from <rdp = partial> to <> because "second" : tensor<4xf32>
    return %1 : tensor<4xf32>
  }

  // CHECK-LABEL: func.func @axis_tp_is_identity(
  // CHECK-SAME:      %[[X:.*]]: tensor<4xf32>
  func.func @axis_tp_is_identity(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: return %[[X]]
    %0 = smp.reshard %x from <> to <tp = split(0)> because "split" : tensor<4xf32>
    %1 = smp.reshard %0 from <tp = split(0)> to <> because "gather" : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

module attributes {smp.pp = 1 : i64} {
  // CHECK-LABEL: func.func @one_stage_is_identity(
  // CHECK-SAME:      %[[X:.*]]: tensor<4xf32>
  func.func @one_stage_is_identity(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: return %[[X]]
    %0 = smp.reshard %x from <pp = partial> to <> because "norm" : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @no_command_for_a_split(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects a value that is not split over axis 'rdp'}}
  %0 = smp.reshard %x from <rdp = split(0)> to <> because "gather" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_command_to_partial(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects a change of layout to replicated, got}}
  %0 = smp.reshard %x from <> to <rdp = partial> because "none" : tensor<4xf32>
  return %0 : tensor<4xf32>
}
