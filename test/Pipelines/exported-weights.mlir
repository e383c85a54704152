// A job of a model that was exported with weights says so: it does not start
// without a word on what to start from.
// RUN: smp-import %S/../models/data/mlp.pt2 -o %t.mlir
// RUN: smp-compile %t.mlir -o %t.without --quiet
// RUN: FileCheck %s --check-prefix=WITHOUT < %t.without/job.json
// WITHOUT: "needs_init": false
// RUN: sed 's/module attributes {/module attributes {smp.exported_weights, /' %t.mlir > %t.weights.mlir
// RUN: smp-compile %t.weights.mlir -o %t.with --quiet
// RUN: FileCheck %s --check-prefix=WITH < %t.with/job.json
// WITH: "needs_init": true
