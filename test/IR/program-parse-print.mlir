// RUN: smp-opt %s | smp-opt | FileCheck %s

// Parameters, chunks and ranks: what is printed is what was parsed.

// CHECK: smp.parameter @wte.weight : tensor<64x8xf32> init <normal, 0.000000e+00, 2.000000e-02> aliases ["lm_head.weight"]
smp.parameter @"wte.weight" : tensor<64x8xf32> init #smp.init<normal, 0.0, 0.02> aliases ["lm_head.weight"]

// CHECK: smp.parameter @plain : tensor<4xf32>
smp.parameter @plain : tensor<4xf32>

// CHECK: smp.parameter @frozen : tensor<4xf32> frozen init <constant, 1.000000e+00>
smp.parameter @frozen : tensor<4xf32> frozen init #smp.init<constant, 1.0>

// CHECK: smp.parameter @padded : tensor<4x2xf32> init <normal, 0.000000e+00, 2.000000e-02, zeroed 2 to 4>
smp.parameter @padded : tensor<4x2xf32> init #smp.init<normal, 0.0, 0.02, zeroed 2 to 4>

// CHECK: smp.parameter @uniform : tensor<4xf32> init <uniform, -5.000000e-01, 5.000000e-01>
smp.parameter @uniform : tensor<4xf32> init #smp.init<uniform, -0.5, 0.5>

// CHECK: smp.parameter @truncated : tensor<4xf32> init <truncated_normal, 0.000000e+00, 2.000000e-02, -4.000000e-02, 4.000000e-02>
smp.parameter @truncated : tensor<4xf32> init #smp.init<truncated_normal, 0.0, 0.02, -0.04, 0.04>

// CHECK: smp.state @rotary.inv_freq : tensor<2xf32> = dense<[1.000000e+00, 1.000000e-01]> : tensor<2xf32>
smp.state @"rotary.inv_freq" : tensor<2xf32> = dense<[1.0, 0.1]> : tensor<2xf32>

// CHECK: smp.state @unknown : tensor<4xi64>
smp.state @unknown : tensor<4xi64>

// CHECK: smp.parameter @w : tensor<4xf32> aliases ["head.w"]
// CHECK-LABEL: func.func @get_parameter(
// CHECK-NEXT: %[[V0:.+]] = smp.get_parameter @w as "head.w" : tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
smp.parameter @w : tensor<4xf32> aliases ["head.w"]
func.func @get_parameter() -> tensor<4xf32> {
  %r = smp.get_parameter @w as "head.w" : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK: smp.state @frequencies : tensor<4xf32>
// CHECK-LABEL: func.func @get_state(
// CHECK-NEXT: %[[V0:.+]] = smp.get_state @frequencies : tensor<4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
smp.state @frequencies : tensor<4xf32>
func.func @get_state() -> tensor<4xf32> {
  %r = smp.get_state @frequencies : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @program() { return }

// CHECK: smp.chunk @chunk0 0 on 0 forward @program backward @program evaluate @program
smp.chunk @chunk0 0 on 0 forward @program backward @program evaluate @program

// CHECK: smp.chunk @chunk1 1 on 1 forward @program count @program predict @program
smp.chunk @chunk1 1 on 1 forward @program count @program predict @program

// CHECK: smp.rank @rank0 0 begin_step @program update @program
smp.rank @rank0 0 begin_step @program update @program
