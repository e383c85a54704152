// RUN: smp-import %S/../models/data/t5.pt2 -o %t.mlir
// RUN: smp-opt --mlir-print-debuginfo %t.mlir | diff %t.mlir -
// RUN: FileCheck %s --input-file %t.mlir
// RUN: smp-opt %t.mlir --smp-specialize=rows=3 | FileCheck %s --check-prefix=STATIC
// RUN: smp-import %S/../models/data/t5-padded.pt2 | smp-opt --smp-specialize=rows=3 | FileCheck %s --check-prefix=PADDED

// Three names of one parameter.
// CHECK: smp.parameter @lm_head.weight {{.*}} aliases ["shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"]
// CHECK-LABEL: func.func @train
// CHECK-NOT: smp.pow
// CHECK: smp.rms_norm

// The buckets of relative positions are constants, their bias an operand, and
// the masks symbolic: none to read, causal to write, none between both.
// STATIC-LABEL: func.func @train
// STATIC-NOT: smp.log
// STATIC-NOT: smp.compare
// STATIC: %[[BUCKETS:.*]] = smp.constant dense<{{.*}}> : tensor<14x14xi64>
// STATIC: smp.embedding %{{.*}}, %[[BUCKETS]]
// STATIC: smp.attention {{.*}} bias %{{[^ ]*}} : tensor<1x2x14x14xf32> <none> scale 1.000000e+00 {scope = "encoder.block.0.layer.0.SelfAttention"}
// STATIC: smp.attention {{.*}} bias %[[BIAS:[^ ]*]] : tensor<1x2x7x7xf32> <causal> scale 1.000000e+00 {scope = "decoder.block.0.layer.0.SelfAttention"}
// STATIC: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <none> scale 1.000000e+00 {scope = "decoder.block.0.layer.1.EncDecAttention"}
// STATIC: smp.attention {{.*}} bias %[[BIAS]] : tensor<1x2x7x7xf32> <causal>
// STATIC: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <none>
// STATIC-LABEL: func.func @eval

// What is not seen is data: the encoder's bias stays below it, the decoder's
// own mask is causal all the same.
// PADDED-LABEL: func.func @train
// PADDED: smp.attention {{.*}} bias %{{[^ ]*}} : tensor<3x2x14x14xf32> <none>
// PADDED: smp.attention {{.*}} bias %{{[^ ]*}} : tensor<1x2x7x7xf32> <causal>
// PADDED: smp.attention {{.*}} bias %{{[^ ]*}} : tensor<3x{{[12]}}x7x14xf32> <none>
