// RUN: smp-opt %s --smp-recover-composites | FileCheck %s

// As GPT-2 writes it: (0.5 x) (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
// CHECK-LABEL: func.func @gpt2
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = smp.gelu %[[X]] form tanh {scope = "act"}
// CHECK-NEXT: return %[[Y]]
func.func @gpt2(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = smp.fill 0.5 : tensor<4x8xf32>
  %h = smp.mul %x, %half : tensor<4x8xf32>
  %three = smp.fill 3.0 : tensor<4x8xf32>
  %p = smp.pow %x, %three : tensor<4x8xf32>
  %c = smp.fill 0.044715 : tensor<4x8xf32>
  %q = smp.mul %p, %c : tensor<4x8xf32>
  %a = smp.add %x, %q : tensor<4x8xf32>
  %k = smp.fill 0.7978845608028654 : tensor<4x8xf32>
  %t = smp.mul %a, %k : tensor<4x8xf32>
  %u = smp.tanh %t : tensor<4x8xf32>
  %one = smp.fill 1.0 : tensor<4x8xf32>
  %v = smp.add %u, %one : tensor<4x8xf32>
  %y = smp.mul %h, %v {scope = "act"} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// 0.5 (x (1 + tanh(...))), the cube as products.
// CHECK-LABEL: func.func @other_order
// CHECK: smp.gelu %{{.*}} form tanh
func.func @other_order(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = smp.mul %x, %x : tensor<4x8xf32>
  %p = smp.mul %s, %x : tensor<4x8xf32>
  %c = smp.fill 0.044715 : tensor<4x8xf32>
  %q = smp.mul %c, %p : tensor<4x8xf32>
  %a = smp.add %q, %x : tensor<4x8xf32>
  %k = smp.fill 0.7978845608028654 : tensor<4x8xf32>
  %t = smp.mul %k, %a : tensor<4x8xf32>
  %u = smp.tanh %t : tensor<4x8xf32>
  %one = smp.fill 1.0 : tensor<4x8xf32>
  %v = smp.add %one, %u : tensor<4x8xf32>
  %w = smp.mul %x, %v : tensor<4x8xf32>
  %half = smp.fill 0.5 : tensor<4x8xf32>
  %y = smp.mul %half, %w : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Another constant than sqrt(2/pi) is another function.
// CHECK-LABEL: func.func @other_constant
// CHECK-NOT: smp.gelu
func.func @other_constant(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = smp.fill 0.5 : tensor<4x8xf32>
  %h = smp.mul %x, %half : tensor<4x8xf32>
  %three = smp.fill 3.0 : tensor<4x8xf32>
  %p = smp.pow %x, %three : tensor<4x8xf32>
  %c = smp.fill 0.044715 : tensor<4x8xf32>
  %q = smp.mul %p, %c : tensor<4x8xf32>
  %a = smp.add %x, %q : tensor<4x8xf32>
  %k = smp.fill 0.8 : tensor<4x8xf32>
  %t = smp.mul %a, %k : tensor<4x8xf32>
  %u = smp.tanh %t : tensor<4x8xf32>
  %one = smp.fill 1.0 : tensor<4x8xf32>
  %v = smp.add %u, %one : tensor<4x8xf32>
  %y = smp.mul %h, %v : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
