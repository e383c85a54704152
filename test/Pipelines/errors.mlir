// RUN: not smp-compile 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expects a model, got none
// RUN: not smp-compile %t.missing.pt2 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: expects a model at '{{.*}}missing.pt2', got No such file or directory
// RUN: not smp-compile %S/../models/data/mlp.pt2 --microbatchs=4 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: expects a known configuration key, got 'microbatchs'
// KEY: did you mean 'microbatches'?
// RUN: not smp-compile %S/../models/data/mlp.pt2 --batch-size 8 -o %t.job 2>&1 | FileCheck %s --check-prefix=SPACE
// SPACE: error: 'batch_size' expects an integer in [1, {{[0-9]+}}], got true
// SPACE: note: a value follows '=', as in --batch-size=8
// RUN: not smp-compile %S/../models/data/mlp.pt2 --partition-file=%t.plan --load-partition -o %t.job 2>&1 | FileCheck %s --check-prefix=SWITCH
// SWITCH: error: 'load_partition' expects false, got true
// SWITCH-NOT: a value follows
// RUN: not smp-compile %S/../models/data/mlp.pt2 --batch-size=5 --microbatches=2 2>&1 | FileCheck %s --check-prefix=DIVIDE
// DIVIDE: error: 'batch_size' expects a multiple of 'microbatches' 2, got 5
// RUN: not smp-compile %S/../models/data/mlp.pt2 --microbatches=4 --quiet 2>&1 | FileCheck %s --check-prefix=EXPORTED
// EXPORTED: error: expects 'microbatches' to divide 'batch_size' 2, got 4
// RUN: not smp-compile %S/../models/data/mlp.pt2 --tensor-parallel-degree=2 2>&1 | FileCheck %s --check-prefix=TENSOR
// TENSOR: error: 'tensor_parallel_degree' expects 1, got 2
// RUN: not smp-compile %S/../models/data/mlp.pt2 --pipeline-parallel-degree=40 --quiet 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: expects at most as many partitions as the model has modules, {{[0-9]+}}, got 40
// RUN: not smp-compile %S/../models/data/mlp.pt2 --pipeline-parallel-degree=1000000 --quiet 2>&1 | FileCheck %s --check-prefix=MILLION
// MILLION: error: expects at most as many partitions as the model has modules, {{[0-9]+}}, got 1000000
// RUN: not smp-compile %S/../models/data/mlp.pt2 --stop-after=lowering 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: expects phases of the list in --help, the first not after the last, got 'import' and 'lowering'
// RUN: not smp-compile %S/../models/data/mlp.pt2 --config=%t.missing.json 2>&1 | FileCheck %s --check-prefix=CONFIG
// CONFIG: error: expects a configuration file '{{.*}}missing.json', got No such file or directory
// RUN: head -c 1000 %S/../models/data/mlp.pt2 > %t.cut.pt2
// RUN: not smp-compile %t.cut.pt2 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: {{.*}}
// RUN: not smp-compile %S/../models/data/mlp.pt2 -o /dev/null/job --quiet 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: expects a folder '/dev/null/job'
// RUN: not smp-compile %S/../models/data/mlp.pt2 --batch-size=1048577 --quiet -o %t.job 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: expects at most 1048576 rows in a microbatch, got 1048577
// ROWS: note: lower 'batch_size' or raise 'microbatches'
// RUN: not smp-compile %S/../models/data/gpt2.pt2 --sequence-length=5 --quiet -o %t.job 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: error: expects 'sequence_length' only where an input's length is open, got 5
// RUN: smp-compile %S/../models/data/gpt2.pt2 --sequence-length=12 --stop-after=specialize --quiet > %t.fixed.mlir
// RUN: not smp-compile %t.fixed.mlir --batch-size=4 --quiet -o %t.job 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: error: expects rows of 2, as the module is specialized, got 4
// RUN: not smp-compile %S/../models/data/mlp.safetensors --quiet -o %t.job 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: error: expects a model at '{{.*}}mlp.safetensors', got binary data
// RUN: not smp-opt %S/../models/data/mlp.pt2 2>&1 | FileCheck %s --check-prefix=ARCHIVE
// RUN: not smp-interpret %S/../models/data/mlp.pt2 2>&1 | FileCheck %s --check-prefix=ARCHIVE
// ARCHIVE: error: expects a module at '{{.*}}mlp.pt2', got an archive
// ARCHIVE: note: make a module of it: smp-import
// RUN: not smp-compile /dev/null --quiet -o %t.job 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: expects a model at '/dev/null', got a module without functions
// RUN: echo '{"microbatches": 1, "microbatches": 2}' > %t.twice.json
// RUN: not smp-compile %S/../models/data/mlp.pt2 --config=%t.twice.json -o %t.job 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: '{{.*}}twice.json' expects each key of an object once, got 'microbatches' twice
// RUN: not smp-compile %S/../models/data/mlp.pt2 --config=/dev/null -o %t.job 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: '/dev/null' expects JSON
// RUN: smp-compile %S/../models/data/mlp.pt2 --partition-file=%t.plan -o %t.job 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: note: 'partition_file' has no effect without 'load_partition'
// RUN: not smp-compile %S/../models/data/mlp.pt2 --quiet -o %t.twice.json 2>&1 | FileCheck %s --check-prefix=NOFOLDER
// NOFOLDER: error: expects a folder '{{.*}}twice.json' to write the job to, got Not a directory
// RUN: not smp-compile %S/../models/data/mlp.pt2 --stop-after=stage --quiet 2>&1 >/dev/full | FileCheck %s --check-prefix=FULL
// RUN: not smp-opt %t.fixed.mlir 2>&1 >/dev/full | FileCheck %s --check-prefix=FULL
// FULL: error: cannot write the output: No space left on device
// RUN: not smp-import %S/../models/data/mlp.pt2 -o /dev/full 2>&1 | FileCheck %s --check-prefix=IMPORTED
// IMPORTED: error: cannot write '/dev/full': No space left on device
// RUN: rm -rf %t.small && mkdir %t.small
// RUN: not sh -c 'ulimit -f 16; exec smp-compile %S/../models/data/gpt2.pt2 --quiet -o %t.small/job' 2>&1 | FileCheck %s --check-prefix=LARGE --implicit-check-not="Stack dump"
// LARGE: error: expects {{.*}}File too large
// RUN: not smp-interpret %t.fixed.mlir --tolerance=-1 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// TOLERANCE: error: '--tolerance' expects a number of at least 0, got -1
