// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Parameters, chunks and ranks: what violates a constraint, whose id stands above it, is refused.

// get_parameter_c1
func.func @get_parameter_of_nothing() {
  // expected-error@+1 {{'smp.get_parameter' op expects the name of a parameter, got @w}}
  %r = smp.get_parameter @w as "w" : tensor<4xf32>
  return
}

// -----

// get_parameter_c2
// expected-note@+1 {{declared here}}
smp.parameter @w : tensor<4xf32>
func.func @get_parameter_of_another_type() {
  // expected-error@+1 {{'smp.get_parameter' op expects a result of type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = smp.get_parameter @w as "w" : tensor<5xf32>
  return
}

// -----

// get_parameter_c3
// expected-note@+1 {{declared here}}
smp.parameter @w : tensor<4xf32> aliases ["v"]
func.func @get_parameter_of_another_name() {
  // expected-error@+1 {{'smp.get_parameter' op expects a name of parameter @w, got 'u'}}
  %r = smp.get_parameter @w as "u" : tensor<4xf32>
  return
}

// -----

// get_state_c1
smp.parameter @w : tensor<4xf32>
func.func @get_state_of_a_parameter() {
  // expected-error@+1 {{'smp.get_state' op expects the name of a state, got @w}}
  %r = smp.get_state @w : tensor<4xf32>
  return
}

// -----

// get_state_c2
// expected-note@+1 {{declared here}}
smp.state @s : tensor<4xf32>
func.func @get_state_of_another_type() {
  // expected-error@+1 {{'smp.get_state' op expects a result of type 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %r = smp.get_state @s : tensor<4xf64>
  return
}

// -----

// parameter_c1
// expected-error@+1 {{'smp.parameter' op expects a static shape, got 'tensor<?xf32>'}}
smp.parameter @w : tensor<?xf32>

// -----

// parameter_c2
// expected-error@+1 {{'smp.parameter' op expects floating numbers where it is not frozen, got 'tensor<4xi64>'}}
smp.parameter @w : tensor<4xi64>

// -----

// parameter_c3
// expected-error@+1 {{'smp.parameter' op expects the numbers of a distribution, got #smp.init<normal, 0.000000e+00, -1.000000e+00>}}
smp.parameter @w : tensor<4xf32> init #smp.init<normal, 0.0, -1.0>

// -----

// parameter_c3
// expected-error@+1 {{'smp.parameter' op expects the numbers of a distribution, got #smp.init<uniform, 1.000000e+00, 0.000000e+00>}}
smp.parameter @w : tensor<4xf32> init #smp.init<uniform, 1.0, 0.0>

// -----

// parameter_c5
// expected-error@+1 {{'smp.parameter' op expects zeroed elements of the 4 that it has, got 2 to 5}}
smp.parameter @w : tensor<4xf32> init #smp.init<normal, 0.0, 0.1, zeroed 2 to 5>

// -----

// parameter_c4
// expected-error@+1 {{'smp.parameter' op expects every name once, got 'w' twice}}
smp.parameter @w : tensor<4xf32> aliases ["v", "w"]

// -----

// parameter_c4
// expected-note@+1 {{declared here}}
smp.parameter @v : tensor<4xf32>
// expected-error@+1 {{'smp.parameter' op expects names that no other parameter has, got 'v'}}
smp.parameter @w : tensor<4xf32> aliases ["v"]

// -----

// state_c1
// expected-error@+1 {{'smp.state' op expects a static shape, got 'tensor<?xf32>'}}
smp.state @s : tensor<?xf32>

// -----

// state_c2
// expected-error@+1 {{'smp.state' op expects a value of type 'tensor<4xf32>', got 'tensor<2xf32>'}}
smp.state @s : tensor<4xf32> = dense<0.0> : tensor<2xf32>

// -----

// state_c2
// expected-error@+1 {{'smp.state' op expects dense elements, got others}}
smp.state @s : tensor<4xf32> = sparse<[[0]], [1.0]> : tensor<4xf32>

// -----

// chunk_c1
func.func @f() { return }
// expected-error@+1 {{'smp.chunk' op expects a number that is not negative, got -1}}
smp.chunk @chunk0 -1 on 0 forward @f

// -----

// chunk_c1
func.func @f() { return }
// expected-error@+1 {{'smp.chunk' op expects a rank that is not negative, got -1}}
smp.chunk @chunk0 0 on -1 forward @f

// -----

// chunk_c2
func.func @f() { return }
// expected-error@+1 {{'smp.chunk' op expects a function with a body, got @g}}
smp.chunk @chunk0 0 on 0 forward @f backward @g

// -----

// chunk_c2
func.func private @f()
// expected-error@+1 {{'smp.chunk' op expects a function with a body, got @f}}
smp.chunk @chunk0 0 on 0 forward @f

// -----

// rank_c1
func.func @f() { return }
// expected-error@+1 {{'smp.rank' op expects a number that is not negative, got -1}}
smp.rank @rank0 -1 begin_step @f update @f

// -----

// rank_c2
func.func @f() { return }
// expected-error@+1 {{'smp.rank' op expects a function with a body, got @g}}
smp.rank @rank0 0 begin_step @f update @g
