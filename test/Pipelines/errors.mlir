// RUN: not smp-compile 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expects a model, got none
// RUN: not smp-compile %t.missing.pt2 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: expects a model at '{{.*}}missing.pt2', got No such file or directory
// RUN: not smp-compile %S/../models/data/mlp.pt2 --microbatchs=4 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: expects a known configuration key, got 'microbatchs'
// KEY: did you mean 'microbatches'?
// RUN: not smp-compile %S/../models/data/mlp.pt2 --batch-size=5 --microbatches=2 2>&1 | FileCheck %s --check-prefix=DIVIDE
// DIVIDE: error: 'batch_size' expects a multiple of 'microbatches' 2, got 5
// RUN: not smp-compile %S/../models/data/mlp.pt2 --microbatches=4 --quiet 2>&1 | FileCheck %s --check-prefix=EXPORTED
// EXPORTED: error: expects 'microbatches' to divide 'batch_size' 2, got 4
// RUN: not smp-compile %S/../models/data/mlp.pt2 --tensor-parallel-degree=2 2>&1 | FileCheck %s --check-prefix=TENSOR
// TENSOR: error: 'tensor_parallel_degree' expects 1, got 2
// RUN: not smp-compile %S/../models/data/mlp.pt2 --pipeline-parallel-degree=40 --quiet 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: expects at most as many partitions as the model has modules, {{[0-9]+}}, got 40
// RUN: not smp-compile %S/../models/data/mlp.pt2 --stop-after=lowering 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: expects phases of the list in --help, the first not after the last, got 'import' and 'lowering'
// RUN: not smp-compile %S/../models/data/mlp.pt2 --config=%t.missing.json 2>&1 | FileCheck %s --check-prefix=CONFIG
// CONFIG: error: expects a configuration file '{{.*}}missing.json', got No such file or directory
// RUN: head -c 1000 %S/../models/data/mlp.pt2 > %t.cut.pt2
// RUN: not smp-compile %t.cut.pt2 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: {{.*}}
// RUN: not smp-compile %S/../models/data/mlp.pt2 -o /dev/null/job --quiet 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: expects a folder '/dev/null/job'
