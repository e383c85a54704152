// What the compiler writes is proved, and what someone else changed is judged.
// RUN: smp-compile %S/../models/data/mlp.pt2 --batch-size=4 --microbatches=2 --pipeline-parallel-degree=2 --stop-after=schedule > %t.mlir
// RUN: smp-opt %t.mlir --smp-verify-schedule -o /dev/null

// A gradient is written where the one before is still being sent.
// RUN: sed '/@train/,/@evaluate/s/waits \[13, 14\]/waits [14]/' %t.mlir > %t.early.mlir
// RUN: not smp-opt %t.early.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: expects slot 0 of 'boundary.cot.c1-c0' to be free before it is written, got rank 1 action 15 (backward of chunk 1, microbatch 1) that does not wait for rank 1 action 13 (send of edge 'cot.c1-c0', microbatch 0, to rank 0)

// A step without its update.
// RUN: sed '/launch @rank1_update/d' %t.mlir > %t.short.mlir
// RUN: not smp-opt %t.short.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: expects update once on rank 1, got 0 launches

// Activations are sent when the gradient that they lead to has come.
// RUN: smp-compile %S/../models/data/mlp.pt2 --batch-size=4 --pipeline-parallel-degree=2 --stop-after=schedule > %t.one.mlir
// RUN: sed -e '/@train/,/@evaluate/{/send "act/{h;d};/recv "cot/{G;s/\(send "act[^[]*\)\[2\]/\1[2, 3]/}}' %t.one.mlir > %t.circle.mlir
// RUN: not smp-opt %t.circle.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=CIRCLE
// CIRCLE: error: expects a schedule that cannot block, got one in which rank 0 action 3 (receive of edge 'cot.c1-c0', microbatch 0, from rank 1) and rank 1 action {{[0-9]+}} ({{.*}}, microbatch 0{{.*}}) wait for each other

// RUN: sed 's/load "input"/load "pixels"/' %t.mlir > %t.input.mlir
// RUN: not smp-opt %t.input.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: error: 'smp.load' op expects an input of the module's chunks, got 'pixels'
// RUN: sed 's/"act.c0-c1" peer/"act.c0-c2" peer/' %t.mlir > %t.edge.mlir
// RUN: not smp-opt %t.edge.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=EDGE
// EDGE: error: 'smp.send' op expects an edge between chunks of the module, got 'act.c0-c2'
// RUN: sed 's/stash.c0 = /stash.c7 = /' %t.mlir > %t.arena.mlir
// RUN: not smp-opt %t.arena.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=ARENA
// ARENA: error: 'smp.launch' op expects slots of arenas of the module's chunks, got one of 'stash.c7'
// RUN: smp-compile %S/../models/data/mlp.pt2 --stop-after=distribute > %t.none.mlir
// RUN: not smp-opt %t.none.mlir --smp-verify-schedule 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expects schedules to verify, got none
