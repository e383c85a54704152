// Ten steps of the model on virtual ranks are the same after every phase, for
// several grids and schedules, and equal PyTorch's.

// DEFINE: %{data} = %S/../models/data/t5
// DEFINE: %{pp} =
// DEFINE: %{ranks} =
// DEFINE: %{kind} =
// DEFINE: %{m} =
// DEFINE: %{run} = smp-interpret --inputs=%{data}.safetensors --inputs-prefix=steps/inputs/ --steps=10 --microbatches=%{m} --pipeline-parallel-degree=%{pp} --ranks=%{ranks}
// DEFINE: %{same} = %{run} --precision=f64 --compare=%t.whole.safetensors --compare-prefix=losses --results-prefix=losses --tolerance=1e-12
// DEFINE: %{phases} = smp-opt %t.0.mlir --smp-partition="partitions=%{pp} microbatches=%{m}" -o %t.1.mlir 2>/dev/null && %{same} %t.1.mlir && \
// DEFINE:   smp-opt %t.1.mlir --smp-stage -o %t.2.mlir && %{same} %t.2.mlir && \
// DEFINE:   smp-opt %t.2.mlir --smp-differentiate -o %t.3.mlir && %{same} %t.3.mlir && \
// DEFINE:   smp-opt %t.3.mlir --smp-distribute -o %t.4.mlir && %{same} %t.4.mlir && \
// DEFINE:   smp-opt %t.4.mlir --smp-schedule="pipeline=%{kind} microbatches=%{m}" -o %t.5.mlir && %{same} %t.5.mlir && \
// DEFINE:   %{run} %t.5.mlir --compare=%{data}.safetensors --compare-prefix=adamw/losses --results-prefix=losses --tolerance=1e-4

// RUN: smp-import %{data}.pt2 -o %t.mlir
// RUN: smp-opt %t.mlir --smp-recover-composites --smp-specialize=rows=2 -o %t.0.mlir
// REDEFINE: %{pp} = 1
// REDEFINE: %{ranks} = 1
// REDEFINE: %{m} = 4
// REDEFINE: %{kind} = simple
// RUN: %{run} --precision=f64 %t.0.mlir -o %t.whole.safetensors

// What is read is used by each layer that writes, so it is relayed from stage
// to stage, and so is the bias that the layers share.
// REDEFINE: %{pp} = 4
// REDEFINE: %{ranks} = 4
// REDEFINE: %{kind} = 1f1b
// RUN: %{phases}
// REDEFINE: %{pp} = 2
// REDEFINE: %{m} = 2
// REDEFINE: %{kind} = interleaved
// RUN: %{phases}

// Lowering too keeps the meaning.
// REDEFINE: %{m} = 4
// REDEFINE: %{ranks} = 2
// RUN: smp-compile %{data}.pt2 --stop-after=lower --pipeline-parallel-degree=2 --microbatches=4 --batch-size=8 > %t.lower.mlir
// RUN: %{same} %t.lower.mlir
