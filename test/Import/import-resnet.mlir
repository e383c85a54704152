// RUN: smp-import %S/../models/data/resnet.pt2 | FileCheck %s
// Printed, parsed and printed again it is the same.
// RUN: smp-import %S/../models/data/resnet.pt2 -o %t.mlir
// RUN: smp-opt --mlir-print-debuginfo %t.mlir | diff %t.mlir -

// CHECK: smp.state @resnet.embedder.embedder.normalization.running_mean : tensor<8xf32> = dense<
// CHECK: smp.state @resnet.embedder.embedder.normalization.num_batches_tracked : tensor<i64> = dense<3> : tensor<i64>

// What training makes of buffers are results of the function.
// CHECK-LABEL: func.func @train
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x3x20x20xf32> {smp.name = "pixel_values", smp.role = "input"}
// CHECK-SAME: tensor<8xf32> {smp.name = "resnet.embedder.embedder.normalization.running_mean", smp.role = "state"}
// CHECK-SAME: tensor<i64> {smp.name = "resnet.embedder.embedder.normalization.num_batches_tracked", smp.role = "state"}
// CHECK-SAME: tensor<f32> {smp.name = "loss", smp.role = "loss"}
// CHECK: %[[C:.*]] = smp.conv2d %[[X]], %{{.*}} stride [2, 2] padding [3, 3] dilation [1, 1] groups 1 {scope = "resnet.embedder.embedder.convolution"} : tensor<?x3x20x20xf32>, tensor<8x3x7x7xf32>
// CHECK: %[[M:.*]] = smp.get_state @resnet.embedder.embedder.normalization.running_mean
// CHECK: %[[V:.*]] = smp.get_state @resnet.embedder.embedder.normalization.running_var
// CHECK: %[[N:[^,]*]], %{{.*}}, %{{.*}}, %[[M1:.*]], %[[V1:.*]] = smp.batch_norm %[[C]] weight %{{.*}} bias %{{.*}} running %[[M]], %[[V]] momentum 1.000000e-01 epsilon 1.000000e-05
// CHECK: %[[R:.*]] = smp.relu %[[N]]
// CHECK: %[[P:[^,]*]], %{{.*}} = smp.max_pool2d %[[R]] kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] {{.*}} : tensor<?x8x10x10xf32>

// A global average is one sum.
// CHECK: smp.reduce_sum %{{.*}} [2, 3] {scope = "resnet.pooler"} : tensor<?x16x3x3xf32> -> tensor<?x16xf32>
// CHECK: return %[[M1]], %[[V1]],

// CHECK-LABEL: func.func @eval
// CHECK-NOT: smp.batch_norm %
// CHECK: smp.batch_norm_inference %{{.*}} weight %{{.*}} bias %{{.*}} running %{{.*}}, %{{.*}} epsilon 1.000000e-05
