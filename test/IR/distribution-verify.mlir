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

func.func @group_of_an_unknown_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects axis pp, tp or rdp, got 'dp'}}
  %r = smp.all_reduce %x over <dp> because "x" : tensor<4xf32>
  return
}

// -----

func.func @group_in_another_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects axes in the order pp, tp, rdp, each at most once, got 'pp' after 'rdp'}}
  %r = smp.all_reduce %x over <rdp, pp> because "x" : tensor<4xf32>
  return
}

// -----

func.func @axis_members_in_another_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects members of axis 'pp' in ascending order from 0, got 0}}
  %r = smp.all_reduce %x over <pp{3, 0}> because "x" : tensor<4xf32>
  return
}

// -----

func.func @layout_with_a_replicated_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects no replicated axis in a layout (they are not written), got 'rdp'}}
  %r = smp.reshard %x from <rdp = replicated> to <> because "x" : tensor<4xf32>
  return
}
