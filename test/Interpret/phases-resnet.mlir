// Ten steps of the model on virtual ranks are the same after every phase, for
// several grids and schedules: losses, parameters and running averages. A
// microbatch has the same two rows whatever the grid. Owners fold their own
// microbatches, so that averages differ between numbers of owners: each is
// compared with the whole model on as many.

// DEFINE: %{data} = %S/../models/data/resnet
// DEFINE: %{pp} =
// DEFINE: %{ranks} =
// DEFINE: %{owners} =
// DEFINE: %{kind} =
// DEFINE: %{m} =
// DEFINE: %{run} = smp-interpret --inputs=%{data}.safetensors --inputs-prefix=steps/inputs/ --steps=10 --precision=f64 --microbatches=%{m}
// DEFINE: %{whole} = %{run} --ranks=%{owners} %t.0.mlir -o %t.whole%{owners}.safetensors
// DEFINE: %{same} = %{run} --pipeline-parallel-degree=%{pp} --ranks=%{ranks} --compare=%t.whole%{owners}.safetensors --tolerance=1e-9
// DEFINE: %{phases} = smp-opt %t.0.mlir --smp-partition="partitions=%{pp} microbatches=%{m}" -o %t.1.mlir 2>/dev/null && \
// DEFINE:   smp-opt %t.1.mlir --smp-stage -o %t.2.mlir && %{same} %t.2.mlir && \
// DEFINE:   smp-opt %t.2.mlir --smp-differentiate -o %t.3.mlir && %{same} %t.3.mlir && \
// DEFINE:   smp-opt %t.3.mlir --smp-distribute -o %t.4.mlir && %{same} %t.4.mlir && \
// DEFINE:   smp-opt %t.4.mlir --smp-schedule="pipeline=%{kind} microbatches=%{m}" -o %t.5.mlir && %{same} %t.5.mlir

// RUN: smp-import %{data}.pt2 -o %t.mlir
// RUN: smp-opt %t.mlir --smp-specialize=rows=2 -o %t.0.mlir
// REDEFINE: %{pp} = 1
// REDEFINE: %{ranks} = 1
// REDEFINE: %{owners} = 1
// REDEFINE: %{m} = 4
// REDEFINE: %{kind} = simple
// RUN: %{whole}
// RUN: %{phases}
// REDEFINE: %{pp} = 4
// REDEFINE: %{ranks} = 4
// REDEFINE: %{kind} = 1f1b
// RUN: %{phases}
// REDEFINE: %{pp} = 2
// REDEFINE: %{owners} = 2
// REDEFINE: %{m} = 2
// REDEFINE: %{kind} = interleaved
// RUN: %{whole}
// RUN: %{phases}

// Lowering too keeps the meaning.
// RUN: smp-compile %{data}.pt2 --stop-after=lower --pipeline-parallel-degree=2 --microbatches=2 --batch-size=4 > %t.lower.mlir
// RUN: %{same} %t.lower.mlir

// The averages of one owner are others than those of two.
// REDEFINE: %{m} = 4
// RUN: not %{run} --ranks=1 %t.0.mlir --compare=%t.whole2.safetensors --compare-prefix=states --results-prefix=states --tolerance=1e-3
