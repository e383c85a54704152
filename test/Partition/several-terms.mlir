// Each term of a loss is weighed by rows and evaluated as it counts in the loss.
// RUN: smp-opt %s --smp-partition=partitions=1 --smp-stage | FileCheck %s
// RUN: sed 's/smp.rows = 2/smp.drop_last, smp.rows = 2/' %s | smp-opt --smp-partition=partitions=1 --smp-stage | FileCheck %s --check-prefixes=DROP,KEEP
// DROP-LABEL: func.func @chunk0_forward
// DROP-NOT:   row_weight
// Evaluation leaves no sample out.
// DROP-LABEL: func.func @chunk0_evaluate
// KEEP-SAME:  row_weight
// RUN: sed 's/attributes {smp.rows = 2/attributes {smp.rows = 3/' %s | smp-opt --smp-partition=partitions=1 --smp-stage | FileCheck %s --check-prefix=DROP

// CHECK-LABEL: func.func @chunk0_forward
// CHECK-SAME:    %[[ROWS:[a-z0-9]+]]: tensor<2xf32> {smp.binding = #smp.binding<input, "row_weight">
// CHECK-SAME:    %[[LABELS:[a-z0-9]+]]: tensor<2xi64>
// CHECK:         %[[OWN:.*]] = smp.select %{{.*}}, %[[LABELS]], %{{.*}}
// CHECK:         %[[SUM:.*]], %[[COUNT:.*]], %{{.*}} = smp.cross_entropy %[[Z:.*]], %[[OWN]]
// CHECK:         %[[COUNTS:.*]] = smp.expand
// CHECK:         %[[WEIGHTS:.*]] = smp.cast %[[COUNTS]] : tensor<2x5xi1> -> tensor<2x5xf32>
// CHECK:         %[[WEIGHED:.*]] = smp.mul %[[Z]], %[[WEIGHTS]]
// As many places as each row has that counts.
// CHECK:         %[[ONES:.*]] = smp.cast %{{.*}} : tensor<2xi1> -> tensor<2xi64>
// CHECK:         %[[TRUE:.*]] = smp.reduce_sum %[[ONES]]
// CHECK:         %[[EACH:.*]] = smp.fill 5.000000e+00 : tensor<i64>
// CHECK:         %[[N:.*]] = smp.mul %[[TRUE]], %[[EACH]]
// CHECK:         %[[SIZE:.*]] = smp.reduce_sum %[[WEIGHED]]
// CHECK:         smp.mean_loss "size" %[[SIZE]] by %[[N]]

// The sum of squares is not divided.
// CHECK-LABEL: func.func @chunk0_evaluate
// CHECK-SAME:    #smp.binding<metric, "eval_sum/loss">
// CHECK-SAME:    #smp.binding<metric, "eval_count/loss">
// CHECK-SAME:    #smp.binding<metric, "eval_sum/size">
// CHECK-SAME:    #smp.binding<metric, "eval_count/size">
// CHECK-SAME:    #smp.binding<metric, "eval_sum/sum_2">
// CHECK-NOT:     eval_count/sum_2
// CHECK-LABEL: func.func @chunk0_predict

module attributes {smp.rows = 2 : i64} {
smp.parameter @"a.weight" : tensor<5x3xf32>
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}, %l: tensor<2xi64> {smp.name = "y", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %w = smp.get_parameter @"a.weight" as "a.weight" : tensor<5x3xf32>
  %z = smp.linear %x, %w {scope = "a"} : tensor<2x3xf32>, tensor<5x3xf32>
  %s, %n, %lse = smp.cross_entropy %z, %l ignore -100 : tensor<2x5xf32>, tensor<2xi64>
  %loss = smp.mean_loss "loss" %s by %n : tensor<f32>
  %size = smp.reduce_sum %z [0, 1] : tensor<2x5xf32> -> tensor<f32>
  %ten = smp.fill 10.0 : tensor<i64>
  %more = smp.mean_loss "size" %size by %ten : tensor<f32>
  %both = smp.add %loss, %more : tensor<f32>
  %squared = smp.mul %z, %z : tensor<2x5xf32>
  %squares = smp.reduce_sum %squared [0, 1] : tensor<2x5xf32> -> tensor<f32>
  %sum = smp.add %both, %squares : tensor<f32>
  return %sum : tensor<f32>
}
}

// A loss that is flat in one of its terms is no sum that can be evaluated.
// RUN: sed 's/^  %both = smp.add %loss, %more/  %one = smp.fill 1.0 : tensor<f32>\n  %large = smp.compare gt %more, %one : tensor<f32>\n  %flat = smp.cast %large : tensor<i1> -> tensor<f32>\n  %both = smp.add %loss, %flat/' %s | smp-opt --smp-partition=partitions=1 --smp-stage | FileCheck %s --check-prefix=FLAT
// FLAT-NOT: eval_sum
