// RUN: smp-opt %s -verify-diagnostics -split-input-file

// Parameters, chunks and schedules: what violates a constraint, whose id stands above it, is refused.

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

// expected-error@+1 {{'smp.rank_schedule' op expects parent op 'smp.schedule'}}
smp.rank_schedule 0 {
}

// -----

smp.schedule @train {
  // expected-error@+1 {{'smp.load' op expects parent op 'smp.rank_schedule'}}
  smp.load "ids" microbatch 0 slot 0 waits []
}
