// RUN: smp-opt %s --smp-value-and-gradient --split-input-file --verify-diagnostics | FileCheck %s

smp.parameter @w : tensor<4xf32> aliases ["w2"]
smp.parameter @frozen : tensor<4xf32> frozen

// CHECK-LABEL: func.func @train
// CHECK-SAME:    tensor<4xf32> {smp.name = "grad.w2", smp.role = "gradient"}
// CHECK-SAME:    tensor<4xf32> {smp.name = "grad.w", smp.role = "gradient"}
func.func @train() -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  // CHECK: %[[W:.*]] = smp.get_parameter @w as "w"
  // CHECK: %[[F:.*]] = smp.get_parameter @frozen
  // CHECK: %[[W2:.*]] = smp.get_parameter @w as "w2"
  %0 = smp.get_parameter @w as "w" : tensor<4xf32>
  %1 = smp.get_parameter @frozen as "frozen" : tensor<4xf32>
  %2 = smp.get_parameter @w as "w2" : tensor<4xf32>
  %3 = smp.mul %0, %1 : tensor<4xf32>
  %4 = smp.stop_gradient %0 : tensor<4xf32>
  %5 = smp.mul %3, %2 : tensor<4xf32>
  %6 = smp.mul %5, %4 : tensor<4xf32>
  %7 = smp.reduce_sum %6 [0] : tensor<4xf32> -> tensor<f32>
  // No gradient flows through the stopped use or to the frozen parameter.
  // CHECK: %[[S:.*]] = smp.stop_gradient
  // CHECK: %[[C:.*]] = smp.expand
  // CHECK: %[[C5:.*]] = smp.mul %[[C]], %[[S]]
  // CHECK: %[[C3:.*]] = smp.mul %[[C5]], %[[W2]]
  // CHECK: %[[G2:.*]] = smp.mul %[[C5]]
  // CHECK: %[[G:.*]] = smp.mul %[[C3]], %[[F]]
  // CHECK: return %{{.*}}, %[[G2]], %[[G]]
  return %7 : tensor<f32>
}

// -----

// expected-error @+1 {{expects a function 'train' in the module, got none of that name}}
module @no_function {
}

// -----

// expected-error @+1 {{expects a result of role 'loss' in function 'train', got none}}
func.func @train() {
  return
}

// -----

// expected-error @+1 {{expects a loss that is a scalar of a floating type, got 'tensor<i64>'}}
func.func @train(%x: tensor<i64>) -> (tensor<i64> {smp.role = "loss"}) {
  return %x : tensor<i64>
}

// -----

// Running averages are state; a parameter in their place has no gradient.
smp.parameter @mean : tensor<4xf32>
smp.state @var : tensor<4xf32>
func.func @train(%x: tensor<2x4xf32>) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %m = smp.get_parameter @mean as "mean" : tensor<4xf32>
  %v = smp.get_state @var : tensor<4xf32>
  // expected-error @+1 {{expects running averages that no parameter reaches, got some that one does}}
  %0 = smp.batch_norm_inference %x running %m, %v epsilon 1.0e-05 : tensor<2x4xf32>, tensor<4xf32>
  %1 = smp.reduce_sum %0 [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
