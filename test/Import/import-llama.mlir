// RUN: smp-import %S/../models/data/llama.pt2 -o %t.mlir
// RUN: smp-opt --mlir-print-debuginfo %t.mlir | diff %t.mlir -
// RUN: smp-opt %t.mlir --smp-specialize=rows=3 | FileCheck %s

// CHECK: module attributes {smp.batch = 2 : i64, smp.data_convention = "hf", smp.rows = 3 : i64}
// CHECK: smp.state @model.rotary_emb.inv_freq : tensor<4xf32> = dense<
// CHECK-NOT: original_inv_freq

// CHECK-LABEL: func.func @train
// CHECK-NOT: arith.
// CHECK-NOT: tensor<?
// CHECK-NOT: smp.rsqrt
// The tables have one half of the head.
// CHECK-DAG: %[[COS:.*]] = smp.cos %[[A:.*]] {scope = "model.rotary_emb"} : tensor<1x[[S:[0-9]+]]x4xf32>
// CHECK-DAG: %[[SIN:.*]] = smp.sin %[[A]] {scope = "model.rotary_emb"}
// CHECK-DAG: %[[C:.*]] = smp.reshape %[[COS]] {{.*}} -> tensor<[[S]]x4xf32>
// CHECK-DAG: %[[N:.*]] = smp.reshape %[[SIN]] {{.*}} -> tensor<[[S]]x4xf32>
// CHECK: smp.rms_norm {{.*}} weight {{.*}} epsilon {{.*}} {scope = "model.layers.0.input_layernorm"}
// CHECK: smp.rotary_embedding %{{[^ ]*}}, %[[C]], %[[N]] {scope = "model.layers.0.self_attn"} : tensor<3x4x[[S]]x8xf32>
// CHECK: smp.rotary_embedding %{{[^ ]*}}, %[[C]], %[[N]] {scope = "model.layers.0.self_attn"} : tensor<3x2x[[S]]x8xf32>
// CHECK: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal> {{.*}} : tensor<3x4x[[S]]x8xf32>, tensor<3x2x[[S]]x8xf32>, tensor<3x2x[[S]]x8xf32>
// CHECK: smp.silu
// CHECK: smp.rotary_embedding %{{[^ ]*}}, %[[C]], %[[N]] {scope = "model.layers.1.self_attn"}
// CHECK: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <causal>
// CHECK: smp.rms_norm {{.*}} {scope = "model.norm"}
// CHECK-LABEL: func.func @eval
