// The exported model trained ten steps, against PyTorch: losses, and the running
// averages that they leave.

// DEFINE: %{run} = smp-interpret %t.mlir --inputs=%{model}.safetensors --compare=%{model}.safetensors
// DEFINE: %{steps} = %{run} --inputs-prefix=steps/inputs/ --steps=10 --tolerance=1e-4
// DEFINE: %{adamw} = %{steps} --optimizer.name=adamw --optimizer.lr=1e-3
// DEFINE: %{sgd} = %{steps} --optimizer.name=sgd --optimizer.lr=0.05 --optimizer.momentum=0.9 --optimizer.weight_decay=0 --gradient-clipping=1.0

// RUN: smp-import %{model}.pt2 -o %t.mlir
// RUN: %{adamw} --compare-prefix=adamw/losses --results-prefix=losses
// RUN: %{adamw} --compare-prefix=adamw/states --results-prefix=states
// RUN: %{sgd} --compare-prefix=sgd/losses --results-prefix=losses
// RUN: %{sgd} --compare-prefix=sgd/states --results-prefix=states
