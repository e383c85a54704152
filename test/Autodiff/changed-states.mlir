// RUN: smp-opt %s --smp-differentiate | FileCheck %s

// The backward of a microbatch runs when later forwards have changed the state
// already: it gets the value that its own forward read. A state that nobody
// changes is read again.
// CHECK-LABEL: func.func @chunk0_forward(
// CHECK-SAME:      %[[S:[a-z0-9]+]]: tensor<4xf32> {smp.binding = #smp.binding<state, "moving">}
// CHECK-SAME:      tensor<4xf32> {smp.binding = #smp.binding<saved, "0">}
// CHECK:         return {{.*}}, %[[S]] :
// CHECK-LABEL: func.func @chunk0_backward(
// CHECK-NOT:       #smp.binding<state, "moving">
// CHECK:           #smp.binding<saved, "0">
// CHECK-LABEL: func.func @rank0_update
// CHECK-SAME:      %[[M:[a-z0-9]+]]: tensor<4xf32> {smp.binding = #smp.binding<state, "moving">}
// CHECK:         smp.concat %{{.*}}, %{{.*}} dim 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>

module attributes {smp.optimizer = {name = "sgd"}} {
  smp.parameter @w : tensor<4xf32>
  smp.state @moving : tensor<4xf32>
  smp.state @fixed : tensor<4xf32>
  func.func @chunk0_forward(%w: tensor<4xf32> {smp.binding = #smp.binding<parameter, "w">},
                            %s: tensor<4xf32> {smp.binding = #smp.binding<state, "moving">},
                            %f: tensor<4xf32> {smp.binding = #smp.binding<state, "fixed">})
      -> (tensor<4xf32> {smp.binding = #smp.binding<state, "moving">}, tensor<f32> {smp.binding = #smp.binding<loss, "loss">}) {
    %0 = smp.mul %w, %s : tensor<4xf32>
    %1 = smp.mul %0, %f : tensor<4xf32>
    %2 = smp.reduce_sum %1 [0] : tensor<4xf32> -> tensor<f32>
    %3 = smp.add %s, %f : tensor<4xf32>
    return %3, %2 : tensor<4xf32>, tensor<f32>
  }
  smp.chunk @chunk0 0 on 0 forward @chunk0_forward
}
