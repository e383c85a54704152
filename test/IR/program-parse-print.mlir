// RUN: smp-opt %s | smp-opt | FileCheck %s

// Parameters, chunks and schedules: what is printed is what was parsed.

// CHECK: smp.parameter @wte.weight : tensor<64x8xf32> init <normal, 0.000000e+00, 2.000000e-02> aliases ["lm_head.weight"]
smp.parameter @"wte.weight" : tensor<64x8xf32> init #smp.init<normal, 0.0, 0.02> aliases ["lm_head.weight"]

// CHECK: smp.parameter @plain : tensor<4xf32>
smp.parameter @plain : tensor<4xf32>

// CHECK: smp.parameter @frozen : tensor<4xf32> frozen init <constant, 1.000000e+00>
smp.parameter @frozen : tensor<4xf32> frozen init #smp.init<constant, 1.0>

// CHECK: smp.parameter @uniform : tensor<4xf32> init <uniform, -5.000000e-01, 5.000000e-01>
smp.parameter @uniform : tensor<4xf32> init #smp.init<uniform, -0.5, 0.5>

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

// CHECK: smp.chunk @chunk0 0 on 0 forward @chunk0_forward backward @chunk0_backward evaluate @chunk0_evaluate
smp.chunk @chunk0 0 on 0 forward @chunk0_forward backward @chunk0_backward evaluate @chunk0_evaluate

// CHECK: smp.chunk @chunk1 1 on 1 forward @chunk1_forward count @chunk1_count predict @chunk1_predict
smp.chunk @chunk1 1 on 1 forward @chunk1_forward count @chunk1_count predict @chunk1_predict

// CHECK: smp.rank @rank0 0 begin_step @rank0_begin_step update @rank0_update
smp.rank @rank0 0 begin_step @rank0_begin_step update @rank0_update

// CHECK: smp.schedule @predict_schedule {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.load "ids" microbatch 0 slot 0 waits []
// CHECK-NEXT: smp.launch @chunk0_predict chunk 0 microbatch 0 slots {} waits [0]
smp.schedule @predict_schedule {
  smp.rank_schedule 0 {
    smp.load "ids" microbatch 0 slot 0 waits []
    smp.launch @chunk0_predict chunk 0 microbatch 0 slots {} waits [0]
  }
}

// CHECK: smp.schedule @train_rank_schedule {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.launch @rank0_begin_step chunk 0 microbatch 0 slots {} waits []
smp.schedule @train_rank_schedule {
  smp.rank_schedule 0 {
    smp.launch @rank0_begin_step chunk 0 microbatch 0 slots {} waits []
  }
}

// CHECK: smp.schedule @train_launch {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.launch @chunk0_forward chunk 0 microbatch 1 slots {stash.c0 = 1 : i64} waits []
smp.schedule @train_launch {
  smp.rank_schedule 0 {
    smp.launch @chunk0_forward chunk 0 microbatch 1 slots {stash.c0 = 1 : i64} waits []
  }
}

// CHECK: smp.schedule @train_send {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.launch @chunk0_forward chunk 0 microbatch 0 slots {} waits []
// CHECK-NEXT: smp.send "act.0-1" peer 1 microbatch 0 slot 0 waits [0]
smp.schedule @train_send {
  smp.rank_schedule 0 {
    smp.launch @chunk0_forward chunk 0 microbatch 0 slots {} waits []
    smp.send "act.0-1" peer 1 microbatch 0 slot 0 waits [0]
  }
}

// CHECK: smp.schedule @train_recv {
// CHECK-NEXT: smp.rank_schedule 1 {
// CHECK-NEXT: smp.recv "act.0-1" peer 0 microbatch 0 slot 0 waits []
smp.schedule @train_recv {
  smp.rank_schedule 1 {
    smp.recv "act.0-1" peer 0 microbatch 0 slot 0 waits []
  }
}

// CHECK: smp.schedule @train_load {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.load "ids" microbatch 0 slot 0 waits []
smp.schedule @train_load {
  smp.rank_schedule 0 {
    smp.load "ids" microbatch 0 slot 0 waits []
  }
}
