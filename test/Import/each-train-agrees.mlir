// Operator by operator, with its composites and specialized, the model gives
// what PyTorch gives in double precision.

// DEFINE: %{run} = smp-interpret --inputs=%{model}.safetensors --compare=%{model}.safetensors --precision=f64 --tolerance=1e-9
// DEFINE: %{train} = --inputs-prefix=b2/inputs/ --graph=train --compare-prefix=b2/f64/train/

// RUN: smp-import %{model}.pt2 --recover-composites=0 -o %t.raw.mlir
// RUN: smp-import %{model}.pt2 -o %t.mlir
// RUN: smp-opt %t.mlir --smp-specialize=rows=2 -o %t.static.mlir
// RUN: smp-opt %t.raw.mlir --smp-specialize=rows=2 -o %t.pieces.mlir

// RUN: %{run} %t.raw.mlir %{train}
// RUN: %{run} %t.static.mlir %{train}
// RUN: %{run} %t.pieces.mlir %{train}
