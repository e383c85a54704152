// RUN: split-file %s %t
// RUN: not smp-interpret %t/input.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not smp-interpret %t/token.mlir 2>&1 | FileCheck %s --check-prefix=TOKEN
// RUN: not smp-interpret %t/loss.mlir --gradients 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not smp-interpret %t/token.mlir --graph=eval 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: not smp-interpret %t/init.mlir --weights=random 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: not smp-interpret %t/init.mlir --weights=%t/none.safetensors 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not smp-interpret %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not smp-interpret %t/init.mlir --microbatches=0 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: not smp-interpret %t/init.mlir --pipeline-parallel-degree=2 --ranks=3 2>&1 | FileCheck %s --check-prefix=RANKS

// INPUT: expects input 'x', got none
// TOKEN: 'smp.embedding' op expects indices in [0, 2), got 2
// LOSS: expects a result with the role 'loss', got none
// GRAPH: expects a function '@eval' or chunks, got none
// INIT: parameter 'w' expects an initialiser, got none
// INIT-NEXT: note: give the weights as a file
// FILE: none.safetensors
// UNKNOWN: expects an op with semantics, got 'arith.addf'
// CONFIG: microbatches
// RANKS: 3

//--- input.mlir
func.func @train(%x: tensor<2xf32> {smp.name = "x"}) -> (tensor<2xf32> {smp.name = "y"}) {
  return %x : tensor<2xf32>
}
//--- token.mlir
func.func @train() -> (tensor<1x3xf32> {smp.name = "y"}) {
  %table = smp.fill 1.0 : tensor<2x3xf32>
  %token = smp.constant dense<2> : tensor<1xi64>
  %0 = smp.embedding %table, %token : tensor<2x3xf32>, tensor<1xi64>
  return %0 : tensor<1x3xf32>
}
//--- loss.mlir
func.func @train() -> (tensor<f32> {smp.name = "y"}) {
  %0 = smp.fill 1.0 : tensor<f32>
  return %0 : tensor<f32>
}
//--- init.mlir
module {
  smp.parameter @w : tensor<2xf32>
  func.func @train() -> (tensor<2xf32> {smp.name = "y"}) {
    %0 = smp.get_parameter @w as "w" : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
//--- unknown.mlir
func.func @train() -> (tensor<f32> {smp.name = "y"}) {
  %0 = smp.fill 1.0 : tensor<f32>
  %1 = arith.addf %0, %0 : tensor<f32>
  return %1 : tensor<f32>
}
