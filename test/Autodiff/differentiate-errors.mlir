// RUN: smp-opt %s --smp-differentiate --split-input-file --verify-diagnostics

// expected-error @+2 {{expects chunks in the module, got none}}
// expected-note @+1 {{run the phases partition and stage first}}
module @no_chunks {
}

// -----

// expected-error @+1 {{expects a chunk with a loss, got none}}
module @no_loss {
  func.func @f() { return }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

// expected-error @+1 {{expects a chunk that counts the loss term 'loss', got none}}
module @no_count {
  func.func @f(%s: tensor<f32> {smp.binding = #smp.binding<input, "s">}) -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    %n = smp.fill 1.0 : tensor<i64>
    %0 = smp.mean_loss "loss" %s by %n : tensor<f32>
    return %0 : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

// expected-error @+1 {{expects a known member of 'smp.optimizer', got 'beta3'}}
module @unknown_member attributes {smp.optimizer = {name = "adamw", beta3 = 1.0}} {
  func.func @f(%s: tensor<f32> {smp.binding = #smp.binding<input, "s">}) -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    return %s : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

// expected-error @+1 {{expects 'smp.optimizer' of name adamw, adam or sgd, got {name = "lion"}}}
module @unknown_optimizer attributes {smp.optimizer = {name = "lion"}} {
  func.func @f(%s: tensor<f32> {smp.binding = #smp.binding<input, "s">}) -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    return %s : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

// expected-error @+1 {{expects a number as 'momentum' of 'smp.optimizer', got "much"}}
module @misshapen_member attributes {smp.optimizer = {name = "sgd", momentum = "much"}} {
  func.func @f(%s: tensor<f32> {smp.binding = #smp.binding<input, "s">}) -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    return %s : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

module @no_gradient {
  smp.parameter @w : tensor<4xf32>
  func.func @f(%w: tensor<4xf32> {smp.binding = #smp.binding<parameter, "w">}) -> (tensor<f64> {smp.binding = #smp.binding<loss, "loss">}) {
    // expected-error @+1 {{expects an op with a gradient between a trained parameter and the loss, got 'smp.sum_of_squares'}}
    %0 = smp.sum_of_squares %w : tensor<4xf32>
    %1 = smp.reduce_sum %0 [0] : tensor<1xf64> -> tensor<f64>
    return %1 : tensor<f64>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

module @statistics {
  smp.parameter @w : tensor<4xf32>
  func.func @f(%w: tensor<4xf32> {smp.binding = #smp.binding<parameter, "w">}) -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    // expected-error @+1 {{expects no gradient through result 1 of 'smp.layer_norm', which only its own gradient reads}}
    %0, %mean, %rstd = smp.layer_norm %w epsilon 1.0e-05 : tensor<4xf32>
    return %mean : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

module @has_backward {
  func.func @f() { return }
  // expected-error @+1 {{expects a chunk that has no backward yet, got @f}}
  smp.chunk @chunk0 0 on 0 forward @f backward @f
}

// -----

module @unbound_argument {
  // expected-error @+1 {{expects a binding of argument 0 of 'f', got none}}
  func.func @f(%x: tensor<f32>) { return }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

module @unbound_result {
  // expected-error @+1 {{expects a binding of result 0 of 'f', got none}}
  func.func @f(%x: tensor<f32> {smp.binding = #smp.binding<input, "x">}) -> tensor<f32> {
    return %x : tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}

// -----

module @loss_of_a_vector {
  // expected-error @+1 {{expects a loss that is a scalar of a floating type, got 'tensor<4xf32>'}}
  func.func @f(%x: tensor<4xf32> {smp.binding = #smp.binding<input, "x">}) -> (tensor<4xf32> {smp.binding = #smp.binding<loss, "loss">}) {
    return %x : tensor<4xf32>
  }
  smp.chunk @chunk0 0 on 0 forward @f
}
