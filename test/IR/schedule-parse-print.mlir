// RUN: smp-opt %s | smp-opt | FileCheck %s

// Schedules and their actions: what is printed is what was parsed.

func.func @begin() { return }
func.func @forward() { return }
func.func @predict_program() { return }
smp.rank @rank0 0 begin_step @begin update @begin
smp.chunk @chunk0 0 on 0 forward @forward predict @predict_program
smp.chunk @chunk1 1 on 1 forward @forward

// CHECK: smp.schedule @train {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.launch @begin chunk -1 microbatch 0 slots {} waits []
// CHECK-NEXT: smp.load "ids" microbatch 0 slot 0 waits []
// CHECK-NEXT: smp.launch @forward chunk 0 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64, input.ids = 0 : i64, stash.c0 = 1 : i64} waits [0, 1]
// CHECK-NEXT: smp.send "act.c0-c1" peer 1 microbatch 0 slot 0 waits [2]
// CHECK-NEXT: }
// CHECK-NEXT: smp.rank_schedule 1 {
// CHECK-NEXT: smp.recv "act.c0-c1" peer 0 microbatch 0 slot 2 waits []
// CHECK-NEXT: smp.launch @forward chunk 1 microbatch 0 slots {"boundary.act.c0-c1" = 2 : i64} waits [0]
// CHECK-NEXT: }
// CHECK-NEXT: }
smp.schedule @train {
  smp.rank_schedule 0 {
    smp.launch @begin chunk -1 microbatch 0 slots {} waits []
    smp.load "ids" microbatch 0 slot 0 waits []
    smp.launch @forward chunk 0 microbatch 0 slots {"boundary.act.c0-c1" = 0 : i64, input.ids = 0 : i64, stash.c0 = 1 : i64} waits [0, 1]
    smp.send "act.c0-c1" peer 1 microbatch 0 slot 0 waits [2]
  }
  smp.rank_schedule 1 {
    smp.recv "act.c0-c1" peer 0 microbatch 0 slot 2 waits []
    smp.launch @forward chunk 1 microbatch 0 slots {"boundary.act.c0-c1" = 2 : i64} waits [0]
  }
}

// CHECK: smp.schedule @evaluate {
// CHECK-NEXT: }
smp.schedule @evaluate {
}

// A rank on which a prediction needs nothing.
// CHECK: smp.schedule @predict {
// CHECK-NEXT: smp.rank_schedule 0 {
// CHECK-NEXT: smp.launch @predict_program chunk 0 microbatch 3 slots {} waits []
// CHECK-NEXT: }
// CHECK-NEXT: smp.rank_schedule 1 {
// CHECK-NEXT: }
// CHECK-NEXT: }
smp.schedule @predict {
  smp.rank_schedule 0 {
    smp.launch @predict_program chunk 0 microbatch 3 slots {} waits []
  }
  smp.rank_schedule 1 {
  }
}
