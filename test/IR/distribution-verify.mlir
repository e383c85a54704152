// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Changes of layout and collectives: what violates a constraint, whose id stands above it, is refused.

// reshard_c1
func.func @reshard_split_along_no_dim(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.reshard' op expects a split along a dim in [0, 1), got 1}}
  %r = smp.reshard %x from <tp = split(1)> to <> because "x" : tensor<4xf32>
  return
}

// -----

// broadcast_c1
func.func @broadcast_from_nobody(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.broadcast' op expects a root that is not negative, got -1}}
  %r = smp.broadcast %x over <rdp> root -1 because "x" : tensor<4xf32>
  return
}

// -----

// axis_c1
func.func @group_of_an_unknown_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects axis pp, tp or rdp, got 'dp'}}
  %r = smp.all_reduce %x over <dp> because "x" : tensor<4xf32>
  return
}

// -----

// group_c2
func.func @group_in_another_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects axes in the order pp, tp, rdp, each at most once, got 'pp' after 'rdp'}}
  %r = smp.all_reduce %x over <rdp, pp> because "x" : tensor<4xf32>
  return
}

// -----

// axis_c2
func.func @axis_members_in_another_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects members of axis 'pp' in ascending order from 0, got 0}}
  %r = smp.all_reduce %x over <pp{3, 0}> because "x" : tensor<4xf32>
  return
}

// -----

// layout_c1
func.func @layout_with_a_replicated_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects no replicated axis in a layout (they are not written), got 'rdp'}}
  %r = smp.reshard %x from <rdp = replicated> to <> because "x" : tensor<4xf32>
  return
}

// -----

// layout_c2
func.func @layout_in_another_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects axes in the order pp, tp, rdp, each at most once, got 'pp' after 'rdp'}}
  %r = smp.reshard %x from <rdp = partial, pp = partial> to <> because "x" : tensor<4xf32>
  return
}

// -----

// layout_c3
func.func @layout_owned_by_no_member(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects an owner among the positions of axis 'pp', got 1}}
  %r = smp.reshard %x from <pp{0, 3} = owned(1)> to <> because "x" : tensor<4xf32>
  return
}

// -----

// layout_c3
func.func @layout_owned_by_nobody(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects an owner among the positions of axis 'rdp', got -1}}
  %r = smp.reshard %x from <rdp = owned(-1)> to <> because "x" : tensor<4xf32>
  return
}

// -----

// group_c1
func.func @group_of_no_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects at least one axis in a group, got none}}
  %r = smp.all_reduce %x over <> because "x" : tensor<4xf32>
  return
}

// -----

// reshard_c2
func.func @reshard_to_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.reshard' op requires the same type for all operands and results}}
  %r = "smp.reshard"(%x) {from = #smp.layout<>, to = #smp.layout<>, cause = "x"} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// all_reduce_c1
func.func @all_reduce_to_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.all_reduce' op requires the same type for all operands and results}}
  %r = "smp.all_reduce"(%x) {group = #smp.group<rdp>, cause = "x"} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// broadcast_c2
func.func @broadcast_from_beyond_the_group(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.broadcast' op expects a root below the group's size 2, got 2}}
  %r = smp.broadcast %x over <pp{0, 3}> root 2 because "x" : tensor<4xf32>
  return
}

// -----

// broadcast_c3
func.func @broadcast_to_another_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'smp.broadcast' op requires the same type for all operands and results}}
  %r = "smp.broadcast"(%x) {group = #smp.group<rdp>, root = 0, cause = "x"} : (tensor<4xf32>) -> tensor<3xf32>
  return
}
