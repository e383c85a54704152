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

func.func @train(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{expects only 'smp' and 'func' ops after specialization, got 'arith.addf'}}
  %y = arith.addf %x, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
