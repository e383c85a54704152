// RUN: smp-import %S/../models/data/mlp.pt2 | FileCheck %s
// Printed, parsed and printed again it is the same.
// RUN: smp-import %S/../models/data/mlp.pt2 -o %t.mlir
// RUN: smp-opt --mlir-print-debuginfo %t.mlir | diff %t.mlir -

// CHECK: module attributes {smp.batch = 2 : i64} {
// CHECK: smp.parameter @"0.weight" : tensor<32x12xf32> init <uniform, -0.28867513459481287, 0.28867513459481287>
// CHECK: smp.parameter @"4.bias" : tensor<32xf32> init <constant, 0.000000e+00>

// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x12xf32> {smp.name = "input", smp.role = "input"}
// CHECK-SAME: %[[Y:[^:]*]]: tensor<?x5xf32> {smp.name = "labels", smp.role = "label"}
// CHECK-SAME: -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}, tensor<?x5xf32> {smp.name = "{{[^"]*}}", smp.role = "output"})
// CHECK: %[[B:.*]] = smp.dim %[[X]], 0
// CHECK: %[[W:.*]] = smp.get_parameter @"0.weight" as "0.weight" : tensor<32x12xf32>
// CHECK: %[[P:.*]] = smp.linear %[[X]], %[[W]] {scope = "0"} : tensor<?x12xf32>, tensor<32x12xf32>
// CHECK: smp.gelu %{{.*}} {scope = "1"}
// CHECK: smp.relu %{{.*}} {scope = "3"}
// CHECK: smp.layer_norm {{.*}} epsilon 1.000000e-05 {scope = "4"}
// CHECK: smp.tanh %{{.*}} {scope = "6"}

// A mean is a term of the loss: a sum and what to divide it by.
// CHECK: %[[D:.*]] = smp.sub %[[O:.*]], %[[Y]]
// CHECK: %[[Q:.*]] = smp.mul %[[D]], %[[D]]
// CHECK: %[[S:.*]] = smp.reduce_sum %[[Q]] [0, 1]
// CHECK: %[[ONE:.*]] = smp.fill 1.000000e+00[%[[B]]] : tensor<?x5xi64>
// CHECK: %[[N:.*]] = smp.reduce_sum %[[ONE]] [0, 1]
// CHECK: %[[L:.*]] = smp.mean_loss "loss" %[[S]] by %[[N]]
// CHECK: return %[[L]], %[[O]]

// CHECK-LABEL: func.func @eval
