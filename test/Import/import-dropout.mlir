// RUN: smp-import %S/../models/data/gpt2-dropout.pt2 | FileCheck %s

// Sites count the ops that draw, in order of the graph.
// CHECK-LABEL: func.func @train
// CHECK: smp.dropout %{{.*}} probability 1.000000e-01 site 1 {scope = "transformer.drop"}
// CHECK: smp.attention {{.*}} dropout 1.000000e-01 site 2 {scope = "transformer.h.0.attn"}
// CHECK: smp.dropout %{{.*}} probability 1.000000e-01 site 3 {scope = "transformer.h.0.attn.resid_dropout"}
// CHECK: smp.dropout %{{.*}} probability 1.000000e-01 site 4 {scope = "transformer.h.0.mlp.dropout"}
// CHECK: smp.attention {{.*}} dropout 1.000000e-01 site 5
// CHECK-LABEL: func.func @eval
// CHECK-NOT: dropout 1.0
// CHECK-NOT: smp.dropout
