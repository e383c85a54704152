// Masks of whole models: a sliding window is recognised, packed sequences given
// as data are left to run time. That both are right is tested against PyTorch.

// RUN: smp-import %S/../models/data/mistral.pt2 | smp-opt --smp-specialize=rows=3 | FileCheck %s --check-prefix=WINDOW
// RUN: smp-import %S/../models/data/llama-packed.pt2 | smp-opt --smp-specialize=rows=3 | FileCheck %s --check-prefix=PACKED

// WINDOW-LABEL: func.func @train
// WINDOW-NOT: smp.compare
// WINDOW: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <window, 4, 0> scale
// WINDOW-LABEL: func.func @eval

// PACKED-LABEL: func.func @train
// PACKED-COUNT-2: smp.attention {{.*}} bias %{{[^ ]*}} : tensor<3x1x12x12xi1> <none>
