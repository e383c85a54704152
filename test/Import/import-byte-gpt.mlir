// RUN: smp-import %S/../models/data/byte-gpt.pt2 | smp-opt --smp-specialize=rows=2 | FileCheck %s

// Written in plain PyTorch: is_causal, gelu with approximate, a tied head.
// CHECK: smp.data_convention = "next-token"
// CHECK: aliases [
// CHECK-LABEL: func.func @train
// CHECK-NOT: arith.
// CHECK: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal>
// CHECK: smp.gelu {{.*}} form tanh
// CHECK: smp.mean_loss "loss"
