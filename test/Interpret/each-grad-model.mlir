// The exported model against PyTorch: both graphs at two batch sizes, in double
// precision and in the written types; gradients.

// DEFINE: %{run} = smp-interpret %t.mlir --inputs=%{model}.safetensors --compare=%{model}.safetensors
// DEFINE: %{f64} = %{run} --precision=f64 --tolerance=1e-9
// DEFINE: %{f32} = %{run} --precision=native --tolerance=1e-5

// RUN: smp-import %{model}.pt2 -o %t.mlir
// RUN: %{f64} --inputs-prefix=b2/inputs/ --graph=train --compare-prefix=b2/f64/train/
// RUN: %{f64} --inputs-prefix=b2/inputs/ --graph=eval --compare-prefix=b2/f64/eval/
// RUN: %{f64} --inputs-prefix=b3/inputs/ --graph=train --compare-prefix=b3/f64/train/
// RUN: %{f64} --inputs-prefix=b3/inputs/ --graph=eval --compare-prefix=b3/f64/eval/
// RUN: %{f32} --inputs-prefix=b2/inputs/ --graph=train --compare-prefix=b2/f32/train/
// RUN: %{f32} --inputs-prefix=b2/inputs/ --graph=eval --compare-prefix=b2/f32/eval/
// RUN: %{f32} --inputs-prefix=b3/inputs/ --graph=train --compare-prefix=b3/f32/train/
// RUN: %{f32} --inputs-prefix=b3/inputs/ --graph=eval --compare-prefix=b3/f32/eval/
// RUN: %{f64} --inputs-prefix=b2/inputs/ --gradients --compare-prefix=b2/grad/ --results-prefix=grad/
