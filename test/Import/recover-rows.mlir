// RUN: smp-opt %s --smp-recover-composites | FileCheck %s

// As GPT-2's Conv1D: flattened, product, bias, and back.
// CHECK-LABEL: func.func @conv1d
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x16x8xf32>, %[[W:[^:]*]]: tensor<8x24xf32>, %[[B:[^:]*]]: tensor<24xf32>)
// CHECK: %[[N:.*]] = smp.dim %[[X]], 0
// CHECK-DAG: %[[P:.*]] = smp.linear %[[X]], %[[W]] transposed {scope = "c_attn"} : tensor<?x16x8xf32>
// CHECK-DAG: %[[E:.*]] = smp.expand %[[B]] [2][%[[N]]]
// CHECK: %[[S:.*]] = smp.add %[[P]], %[[E]]
// CHECK-NEXT: return %[[S]]
func.func @conv1d(%x: tensor<?x16x8xf32>, %w: tensor<8x24xf32>, %bias: tensor<24xf32>) -> tensor<?x16x24xf32> {
  %b = smp.dim %x, 0 : tensor<?x16x8xf32>
  %c16 = arith.constant 16 : index
  %n = arith.muli %b, %c16 : index
  %f = smp.reshape %x [%n] : tensor<?x16x8xf32> -> tensor<?x8xf32>
  %p = smp.linear %f, %w transposed {scope = "c_attn"} : tensor<?x8xf32>, tensor<8x24xf32>
  %e = smp.expand %bias [1] [%n] : tensor<24xf32> -> tensor<?x24xf32>
  %s = smp.add %p, %e {scope = "c_attn"} : tensor<?x24xf32>
  %y = smp.reshape %s [%b] : tensor<?x24xf32> -> tensor<?x16x24xf32>
  return %y : tensor<?x16x24xf32>
}

// A reshape that changes the last dim stays.
// CHECK-LABEL: func.func @heads
// CHECK: smp.linear {{.*}} : tensor<4x8xf32>, tensor<6x8xf32>
// CHECK: smp.reshape {{.*}} : tensor<4x6xf32> -> tensor<4x2x3xf32>
func.func @heads(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x2x3xf32> {
  %p = smp.linear %x, %w : tensor<4x8xf32>, tensor<6x8xf32>
  %y = smp.reshape %p : tensor<4x6xf32> -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}
