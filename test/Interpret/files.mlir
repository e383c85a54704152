// Results are files that serve as inputs, weights and expectations.

// RUN: split-file %s %t
// RUN: smp-interpret %t/make.mlir -o %t/made.safetensors
// RUN: smp-interpret %t/use.mlir --inputs=%t/made.safetensors --weights=%t/made.safetensors | FileCheck %s --check-prefix=USE
// RUN: smp-interpret %t/make.mlir --compare=%t/made.safetensors | FileCheck %s --check-prefix=SAME
// RUN: not smp-interpret %t/other.mlir --compare=%t/made.safetensors | FileCheck %s --check-prefix=DIFFER
// RUN: smp-interpret %t/other.mlir --compare=%t/made.safetensors --compare-prefix=w --results-prefix=w --tolerance=0.5
// RUN: not smp-interpret %t/shape.mlir --inputs=%t/made.safetensors 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not smp-interpret %t/type.mlir --inputs=%t/made.safetensors 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not smp-interpret %t/missing.mlir --inputs=%t/made.safetensors 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not smp-interpret %t/weight.mlir --weights=%t/made.safetensors 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not smp-interpret %t/state.mlir --weights=%t/made.safetensors 2>&1 | FileCheck %s --check-prefix=STATE
// RUN: not smp-interpret %t/use.mlir --inputs=%t/made.safetensors --inputs-prefix=b2/ 2>&1 | FileCheck %s --check-prefix=PREFIX
// RUN: not smp-interpret %t/use.mlir --inputs=%t/made.safetensors --tensor-parallel-degree=2 2>&1 | FileCheck %s --check-prefix=TP

// USE: y: f32 [2] = 3 8
// SAME: 2 tensors compared, largest difference 0.0e+00
// DIFFER: 'w' expects a difference of at most 0.0e+00, got 2.5e-01
// DIFFER: 'x' expects a result, got none
// SHAPE: expects argument 0 of 'train' of type 'tensor<3xf32>', got shape [2]
// TYPE: expects input 'x' of type i64, got f32
// MISSING: expects input 'z', got 'w', 'x'
// WEIGHT: expects parameter 'w' of shape [3], got [2]
// STATE: state 's' expects a value in the module or the weights, got none
// PREFIX: expects tensors whose names start with 'b2/', got none
// TP: tensor_parallel_degree

//--- make.mlir
func.func @train() -> (tensor<2xf32> {smp.name = "x"}, tensor<2xf32> {smp.name = "w"}) {
  %x = smp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %w = smp.constant dense<[3.0, 4.0]> : tensor<2xf32>
  return %x, %w : tensor<2xf32>, tensor<2xf32>
}
//--- other.mlir
func.func @train() -> (tensor<2xf32> {smp.name = "w"}) {
  %w = smp.constant dense<[3.0, 5.0]> : tensor<2xf32>
  return %w : tensor<2xf32>
}
//--- use.mlir
module {
  smp.parameter @w : tensor<2xf32>
  func.func @train(%x: tensor<?xf32> {smp.name = "x"}) -> (tensor<?xf32> {smp.name = "y"}) {
    %w = smp.get_parameter @w as "w" : tensor<2xf32>
    %n = smp.dim %x, 0 : tensor<?xf32>
    %e = smp.reshape %w [%n] : tensor<2xf32> -> tensor<?xf32>
    %y = smp.mul %x, %e : tensor<?xf32>
    return %y : tensor<?xf32>
  }
}
//--- shape.mlir
func.func @train(%x: tensor<3xf32> {smp.name = "x"}) -> (tensor<3xf32> {smp.name = "y"}) {
  return %x : tensor<3xf32>
}
//--- type.mlir
func.func @train(%x: tensor<2xi64> {smp.name = "x"}) -> (tensor<2xi64> {smp.name = "y"}) {
  return %x : tensor<2xi64>
}
//--- missing.mlir
func.func @train(%x: tensor<2xf32> {smp.name = "z"}) -> (tensor<2xf32> {smp.name = "y"}) {
  return %x : tensor<2xf32>
}
//--- weight.mlir
module {
  smp.parameter @w : tensor<3xf32>
  func.func @train() -> (tensor<3xf32> {smp.name = "y"}) {
    %w = smp.get_parameter @w as "w" : tensor<3xf32>
    return %w : tensor<3xf32>
  }
}
//--- state.mlir
module {
  smp.state @s : tensor<3xf32>
  func.func @train() -> (tensor<3xf32> {smp.name = "y"}) {
    %s = smp.get_state @s : tensor<3xf32>
    return %s : tensor<3xf32>
  }
}
