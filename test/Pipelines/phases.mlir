// Phases can be looked at, and continued from, one by one.
// RUN: smp-compile %S/../models/data/gpt2.pt2 --stop-after=specialize --quiet --batch-size=4 --microbatches=2 | FileCheck %s --check-prefix=SPECIALIZED
// SPECIALIZED: smp.rows = 2 : i64
// SPECIALIZED: func.func @train(%{{.*}}: tensor<2x12xi64>
// SPECIALIZED: smp.attention {{.*}} <causal>

// RUN: rm -rf %t && smp-compile %S/../models/data/gpt2.pt2 -o %t/whole --dump-phases=%t/phases --batch-size=4 --microbatches=2 --pipeline-parallel-degree=2 2>&1 | FileCheck %s --check-prefix=SUMMARY
// SUMMARY: [ 1/10] import
// SUMMARY: [10/10] emit
// SUMMARY: partition: stage 1 starts at '{{.*}}': {{[0-9]+}} bytes cross there and back in each microbatch
// SUMMARY: partition: largest stage cost {{.*}}, lower bound
// SUMMARY: job: {{.*}}, microbatches of 2 rows, {{[0-9]+}} kernels, {{[0-9]+}} commands
// SUMMARY: memory: pp rank 0 takes
// SUMMARY: memory: pp rank 1 takes

// A run that starts from a dumped phase ends with the same programs.
// RUN: smp-compile %t/phases/4-stage.mlir --start-from=differentiate -o %t/rest --quiet --batch-size=4 --microbatches=2 --pipeline-parallel-degree=2
// RUN: diff %t/whole/chunk-0.json %t/rest/chunk-0.json
// RUN: diff %t/whole/rank-1.json %t/rest/rank-1.json

// The same input gives the same bytes.
// RUN: smp-compile %S/../models/data/gpt2.pt2 -o %t/again --quiet --batch-size=4 --microbatches=2 --pipeline-parallel-degree=2
// RUN: diff -r %t/whole %t/again
