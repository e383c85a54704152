// RUN: smp-opt %s --split-input-file --verify-diagnostics

func.func @product_c1(%x: tensor<4x16xf32>, %w: tensor<4x15xf32>) {
  // expected-error@+1 {{expects 64 elements, got 'tensor<4x15xf32>'}}
  %0 = smp.product %x, %w transposed false, true batch 1, 1, 1 sizes 4, 4, 16 : tensor<4x16xf32>, tensor<4x15xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @product_c2(%x: tensor<3x4x16xf32>, %w: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expects div_batch and sum_batch that divide the batch, got 2, 1 and 3}}
  %0 = smp.product %x, %w transposed false, true batch 3, 2, 1 sizes 4, 4, 16 : tensor<3x4x16xf32>, tensor<3x4x16xf32> -> tensor<3x4x4xf32>
  return
}

// -----

func.func @product_c3(%x: tensor<4x16xf32>, %w: tensor<4x16xf32>, %a: tensor<16xf32>) {
  // expected-error@+1 {{expects an accumulator of type 'tensor<4x4xf32>', got 'tensor<16xf32>'}}
  %0 = smp.product %x, %w into %a : tensor<16xf32> transposed false, true batch 1, 1, 1 sizes 4, 4, 16 : tensor<4x16xf32>, tensor<4x16xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @cluster_c1(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects a body argument for each operand}}
  %0 = smp.cluster(%x) in_place [-1] {
  ^bb0(%a: tensor<7xf32>):
    %1 = smp.fill 0.0 : tensor<8xf32>
    smp.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @cluster_c2(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects the body to yield a value for each result}}
  %0 = smp.cluster(%x) in_place [-1] {
  ^bb0(%a: tensor<8xf32>):
    smp.yield
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @cluster_c3(%x: tensor<8xf32>) {
  // expected-error@+1 {{expects in_place to name an operand of type 'tensor<8xf32>' once, got 1}}
  %0 = smp.cluster(%x) in_place [1] {
  ^bb0(%a: tensor<8xf32>):
    %1 = smp.exp %a : tensor<8xf32>
    smp.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
