// The exported model against PyTorch: both graphs at two batch sizes, in double
// precision and in the written types; gradients; ten steps of training.

// DEFINE: %{data} = %S/../models/data/gpt2
// DEFINE: %{run} = smp-interpret %t.mlir --inputs=%{data}.safetensors --compare=%{data}.safetensors
// DEFINE: %{f64} = %{run} --precision=f64 --tolerance=1e-9
// DEFINE: %{f32} = %{run} --precision=native --tolerance=1e-5
// DEFINE: %{steps} = %{run} --inputs-prefix=steps/inputs/ --steps=10 --tolerance=1e-4

// RUN: smp-import %{data}.pt2 -o %t.mlir
// RUN: %{f64} --inputs-prefix=b2/inputs/ --graph=train --compare-prefix=b2/f64/train/
// RUN: %{f64} --inputs-prefix=b2/inputs/ --graph=eval --compare-prefix=b2/f64/eval/
// RUN: %{f64} --inputs-prefix=b3/inputs/ --graph=train --compare-prefix=b3/f64/train/
// RUN: %{f64} --inputs-prefix=b3/inputs/ --graph=eval --compare-prefix=b3/f64/eval/
// RUN: %{f32} --inputs-prefix=b2/inputs/ --graph=train --compare-prefix=b2/f32/train/
// RUN: %{f32} --inputs-prefix=b2/inputs/ --graph=eval --compare-prefix=b2/f32/eval/
// RUN: %{f32} --inputs-prefix=b3/inputs/ --graph=train --compare-prefix=b3/f32/train/
// RUN: %{f32} --inputs-prefix=b3/inputs/ --graph=eval --compare-prefix=b3/f32/eval/
// RUN: %{f64} --inputs-prefix=b2/inputs/ --gradients --compare-prefix=b2/grad/ --results-prefix=grad/
// RUN: %{steps} --optimizer.name=adamw --optimizer.lr=1e-3 --compare-prefix=adamw/losses --results-prefix=losses
// RUN: %{steps} --optimizer.name=sgd --optimizer.lr=0.05 --optimizer.momentum=0.9 --optimizer.weight_decay=0 --gradient-clipping=1.0 --compare-prefix=sgd/losses --results-prefix=losses

// The rows of a step may be cut.
// RUN: %{steps} --optimizer.name=sgd --optimizer.lr=0.05 --optimizer.momentum=0.9 --optimizer.weight_decay=0 --gradient-clipping=1.0 --microbatches=2 --ranks=2 --compare-prefix=sgd/losses --results-prefix=losses
