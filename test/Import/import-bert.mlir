// RUN: smp-import %S/../models/data/bert.pt2 -o %t.mlir
// RUN: smp-opt --mlir-print-debuginfo %t.mlir | diff %t.mlir -
// RUN: FileCheck %s --input-file %t.mlir
// RUN: smp-opt %t.mlir --smp-specialize=rows=3 | FileCheck %s --check-prefix=STATIC
// RUN: smp-import %S/../models/data/bert-padded.pt2 | smp-opt --smp-specialize=rows=3 | FileCheck %s --check-prefix=PADDED

// Labels are not the next tokens, so there is no convention of token files.
// CHECK: module attributes {smp.batch = 2 : i64} {
// A weight and a bias are tied.
// CHECK-DAG: smp.parameter @cls.predictions.decoder.weight {{.*}} aliases ["bert.embeddings.word_embeddings.weight"]
// CHECK-DAG: smp.parameter @cls.predictions.decoder.bias : {{.*}} init <constant, 0.000000e+00> aliases ["cls.predictions.bias"]
// CHECK-LABEL: func.func @train
// CHECK: smp.get_parameter @cls.predictions.decoder.weight as "bert.embeddings.word_embeddings.weight"
// CHECK: smp.gelu {{.*}} {scope = "bert.encoder.layer.0.intermediate.intermediate_act_fn"}
// CHECK: smp.get_parameter @cls.predictions.decoder.weight as "cls.predictions.decoder.weight"
// CHECK: smp.cross_entropy {{.*}} ignore -100

// Positions are at least 0: no mask.
// STATIC-LABEL: func.func @train
// STATIC-NOT: smp.compare
// STATIC-COUNT-2: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} <none> scale
// STATIC-NOT: smp.attention
// STATIC-LABEL: func.func @eval

// A padding mask is data.
// PADDED-LABEL: func.func @train
// PADDED: smp.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} bias %{{[^ ]*}} : tensor<3x1x{{[0-9]+}}x12xi1> <none> scale
