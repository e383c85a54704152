// RUN: smp-opt %s --smp-specialize="rows=4" -verify-diagnostics -split-input-file

// expected-error @+2 {{expects a size for dim 1 of input 'ids', got none}}
// expected-note @+1 {{set the option 'sequence'}}
func.func @train(%ids: tensor<?x?xi64> {smp.name = "ids"}) -> tensor<?x?xi64> {
  return %ids : tensor<?x?xi64>
}

// -----

func.func @train(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  // expected-error @+1 {{'smp.fill' op expects sizes that follow from the inputs', got one that does not}}
  %f = smp.fill 1.0 [%n] : tensor<?x4xf32>
  return %f : tensor<?x4xf32>
}

// -----

// What is empty may be joined to what is not, but not computed with.
func.func @train(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %none = smp.slice %x, 1[4 : 4] : tensor<?x4xf32> -> tensor<?x0xf32>
  %joined = smp.concat %none, %x dim 1 : (tensor<?x0xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-error @-2 {{expects tensors with elements, got 'tensor<4x0xf32>'}}
  // expected-note @-3 {{leave out what computes with empty tensors}}
  %sum = smp.reduce_sum %none [1] : tensor<?x0xf32> -> tensor<?xf32>
  return %joined, %sum : tensor<?x4xf32>, tensor<?xf32>
}

// -----

func.func @train(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{expects only 'smp' and 'func' ops after specialization, got 'arith.addf'}}
  %y = arith.addf %x, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
