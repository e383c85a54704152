// RUN: not smp-import 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not smp-import %t.none.pt2 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not smp-import %s 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not smp-import %S/../models/data/mlp.pt2 --weights %t.st 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: head -c 20000 %S/../models/data/mlp.pt2 > %t.short.pt2
// RUN: not smp-import %t.short.pt2 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: smp-import --help | FileCheck %s --check-prefix=HELP
// RUN: smp-import --list-operators | FileCheck %s --check-prefix=LIST
// RUN: smp-import --coverage %S/../models/data/resnet.pt2 | FileCheck %s --check-prefix=COVERAGE

// NONE: smp-import: error: expects an archive, got none
// NONE-NEXT: note: smp-import model.pt2 -o model.mlir
// MISSING: smp-import: error: {{.*}}none.pt2
// TEXT: smp-import: error: {{.*}} expects a zip archive as torch.export.save writes, got no end of its directory
// WEIGHTS: expects an archive with weights, got one without
// WEIGHTS-NEXT: note: export it with weights=True, or leave --weights out
// SHORT: expects a zip archive as torch.export.save writes, got no end of its directory
// SHORT-NEXT: note: the file may be truncated
// HELP: OVERVIEW: imports a PyTorch model into the smp dialect
// HELP: Exit codes: 0 done
// HELP: smp-import options:
// HELP: -o <model.mlir>
// HELP: --weights=<model.safetensors>
// LIST: aten.add.Tensor
// LIST: aten.scaled_dot_product_attention.default
// COVERAGE:      operator                         nodes  missing
// COVERAGE:      aten.conv2d.default
// COVERAGE:      {{^}}[[N:[0-9]+]] of [[N]] operators and [[M:[0-9]+]] of [[M]] nodes are covered
