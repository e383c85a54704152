// RUN: smp-opt %s --smp-partition=partitions=2 | FileCheck %s
// RUN: smp-opt %s --smp-partition=partitions=2 --smp-stage | FileCheck %s --check-prefix=STAGE
// RUN: smp-opt %s --smp-partition=partitions=2 --smp-stage --smp-differentiate --smp-distribute --smp-schedule=microbatches=2 | FileCheck %s --check-prefix=SCHEDULE

// CHECK: module attributes {smp.chunks = array<i64: 0, 1>, smp.pp = 2 : i64
// A parameter is read where it is used.
// CHECK: smp.get_parameter @a.weight as "a.weight" {smp.chunk = 0 : i64}
// CHECK: smp.dropout {{.*}}smp.chunk = 0 : i64
// CHECK: smp.get_parameter @b.weight as "b.weight" {smp.chunk = 1 : i64}
// CHECK: smp.mean_loss {{.*}}smp.chunk = 1 : i64

// STAGE-LABEL: func.func @chunk0_forward
// STAGE-SAME:  -> (tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">})
// STAGE-LABEL: func.func @chunk1_forward
// STAGE-SAME:  smp.binding = #smp.binding<input, "y">, smp.role = "label"
// STAGE-SAME:  -> (tensor<f32> {smp.binding = #smp.binding<loss, "loss">})
// Evaluation has no dropout and leaves out rows of weight 0; the value that
// crosses keeps its name.
// STAGE-LABEL: func.func @chunk0_evaluate
// STAGE-SAME:  -> (tensor<2x4xf32> {smp.binding = #smp.binding<activation, "v0">})
// STAGE-NOT:   smp.dropout
// STAGE-LABEL: func.func @chunk1_evaluate
// STAGE-SAME:  smp.binding = #smp.binding<input, "row_weight">, smp.role = "row_weight"
// STAGE-SAME:  smp.binding = #smp.binding<input, "y">, smp.role = "label"
// STAGE:       %[[IGNORED:.*]] = smp.fill -1.000000e+02
// STAGE:       %[[LABELS:.*]] = smp.select %{{.*}}, %{{.*}}, %[[IGNORED]]
// STAGE:       smp.cross_entropy %{{.*}}, %[[LABELS]]
// STAGE-LABEL: func.func @chunk1_predict
// STAGE-NOT:   label
// STAGE:       #smp.binding<output, "logits">
// STAGE-LABEL: func.func @chunk1_count
// STAGE:       smp.label_count
// STAGE-NOT:   @chunk0_count
// STAGE:       smp.chunk @chunk0 0 on 0 forward @chunk0_forward evaluate @chunk0_evaluate predict @chunk0_predict
// STAGE:       smp.chunk @chunk1 1 on 1 forward @chunk1_forward count @chunk1_count

// The backward function reads labels again: they are labels there too.
// SCHEDULE-LABEL: func.func @chunk1_backward
// SCHEDULE-SAME:  smp.binding = #smp.binding<input, "y">, smp.role = "label"
// SCHEDULE-LABEL: smp.schedule @train
// SCHEDULE:       smp.launch @chunk0_forward chunk 0 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64, input.x = 0 : i64, stash.c0 = 0 : i64}
// SCHEDULE:       smp.send "act.c0-c1" peer 1 microbatch 0
// SCHEDULE:       smp.recv "cot.c1-c0" peer 1 microbatch 0
// SCHEDULE:       smp.launch @rank0_update chunk -1
// SCHEDULE:       smp.rank_schedule 1
// SCHEDULE:       smp.launch @chunk1_count
// SCHEDULE-LABEL: smp.schedule @evaluate
// SCHEDULE-LABEL: smp.schedule @predict

module attributes {smp.rows = 2 : i64} {
smp.parameter @"a.weight" : tensor<4x3xf32>
smp.parameter @"b.weight" : tensor<5x4xf32>
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}, %l: tensor<2xi64> {smp.name = "y", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}, tensor<2x5xf32> {smp.name = "logits", smp.role = "output"}) {
  %w = smp.get_parameter @"a.weight" as "a.weight" : tensor<4x3xf32>
  %y = smp.linear %x, %w {scope = "a"} : tensor<2x3xf32>, tensor<4x3xf32>
  %g = smp.gelu %y {scope = "act"} : tensor<2x4xf32>
  %d = smp.dropout %g probability 0.1 site 1 {scope = "drop"} : tensor<2x4xf32>
  %w2 = smp.get_parameter @"b.weight" as "b.weight" : tensor<5x4xf32>
  %z = smp.linear %d, %w2 {scope = "b"} : tensor<2x4xf32>, tensor<5x4xf32>
  %s, %n, %lse = smp.cross_entropy %z, %l ignore -100 : tensor<2x5xf32>, tensor<2xi64>
  %loss = smp.mean_loss "loss" %s by %n : tensor<f32>
  return %loss, %z : tensor<f32>, tensor<2x5xf32>
}
}
