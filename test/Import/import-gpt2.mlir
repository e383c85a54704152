// RUN: smp-import %S/../models/data/gpt2.pt2 -o %t.mlir
// RUN: smp-opt --mlir-print-debuginfo %t.mlir | diff %t.mlir -
// RUN: FileCheck %s --input-file %t.mlir
// RUN: smp-opt %t.mlir --smp-specialize=rows=3 | FileCheck %s --check-prefix=STATIC
// RUN: smp-import %S/../models/data/gpt2.pt2 --recover-composites=0 | FileCheck %s --check-prefix=RAW

// CHECK: module attributes {smp.batch = 2 : i64, smp.data_convention = "hf"} {
// CHECK: smp.parameter @lm_head.weight : {{.*}} init <normal, 0.000000e+00, 2.000000e-02> aliases ["transformer.wte.weight"]

// The tied weight is read under the name of the module that uses it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: {smp.name = "input_ids", smp.role = "input"}
// CHECK-SAME: {smp.name = "labels", smp.role = "label"}
// CHECK-SAME: {smp.name = "logits", smp.role = "output"}
// CHECK: smp.get_parameter @lm_head.weight as "transformer.wte.weight"
// CHECK: smp.embedding {{.*}} {scope = "transformer.wte"}
// CHECK: smp.linear %{{[^ ]*}}, %{{[^ ]*}} transposed {scope = "transformer.h.0.attn.c_attn"} : tensor<?x{{[0-9]+}}x32xf32>
// CHECK: smp.gelu {{.*}} form tanh {scope = "transformer.h.0.mlp.act"}
// CHECK: smp.get_parameter @lm_head.weight as "lm_head.weight"
// CHECK: smp.cross_entropy {{.*}} ignore -100
// CHECK: smp.mean_loss "loss"
// CHECK-LABEL: func.func @eval

// STATIC: module attributes {{{.*}}smp.rows = 3 : i64}
// STATIC-LABEL: func.func @train
// STATIC-NOT: arith.
// STATIC-NOT: tensor<?
// STATIC-NOT: smp.index
// STATIC-NOT: smp.cumsum
// STATIC: %[[P:.*]] = smp.iota 1 {{.*}} : tensor<1x[[S:[0-9]+]]xi64>
// STATIC: smp.embedding %{{.*}}, %[[P]] {scope = "transformer.wpe"}
// STATIC: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale 2.500000e-01 {scope = "transformer.h.0.attn"} : tensor<3x2x[[S]]x16xf32>
// STATIC: smp.gelu {{.*}} form tanh {scope = "transformer.h.0.mlp.act"}
// STATIC: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> scale 2.500000e-01 {scope = "transformer.h.1.attn"}
// STATIC-NOT: smp.attention
// STATIC-LABEL: func.func @eval

// RAW-LABEL: func.func @train
// RAW: smp.cumsum
// RAW: smp.pow
// RAW: smp.tanh
