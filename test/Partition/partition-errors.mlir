// RUN: not smp-opt %s --split-input-file --smp-partition=partitions=3 2>&1 | FileCheck %s
// RUN: not smp-opt %s --split-input-file --smp-stage 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not smp-opt %s --split-input-file --smp-schedule 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not smp-opt %s --smp-partition=memory-weight=2 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not smp-opt %s --smp-schedule=pipeline=zig-zag 2>&1 | FileCheck %s --check-prefix=KIND

// CHECK: error: expects at most as many partitions as the model has modules, 1, got 3
// STAGE: error: expects a partitioned module
// SCHEDULE: error: expects chunks to schedule, got none
// WEIGHT: error: expects at least 1 partition and a memory weight from 0 to 1, got 1 and 2.0
// KIND: error: expects a schedule simple, 1f1b or interleaved, got 'zig-zag'
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}) -> (tensor<2x3xf32> {smp.name = "y", smp.role = "output"}) {
  %y = smp.relu %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK: error: expects a function 'train' to partition, got none
func.func @other(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
