// The exported model trained ten steps, against PyTorch.

// DEFINE: %{run} = smp-interpret %t.mlir --inputs=%{model}.safetensors --compare=%{model}.safetensors
// DEFINE: %{steps} = %{run} --inputs-prefix=steps/inputs/ --steps=10 --tolerance=1e-4

// RUN: smp-import %{model}.pt2 -o %t.mlir
// RUN: %{steps} --optimizer.name=adamw --optimizer.lr=1e-3 --compare-prefix=adamw/losses --results-prefix=losses
// RUN: %{steps} --optimizer.name=sgd --optimizer.lr=0.05 --optimizer.momentum=0.9 --optimizer.weight_decay=0 --gradient-clipping=1.0 --compare-prefix=sgd/losses --results-prefix=losses

// The rows of a step may be cut.
// RUN: %{steps} --optimizer.name=sgd --optimizer.lr=0.05 --optimizer.momentum=0.9 --optimizer.weight_decay=0 --gradient-clipping=1.0 --microbatches=2 --ranks=2 --compare-prefix=sgd/losses --results-prefix=losses
