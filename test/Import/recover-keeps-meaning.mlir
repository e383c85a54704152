// What is recovered computes what its pieces computed.

// RUN: smp-interpret %s --precision=f64 -o %t.safetensors
// RUN: smp-opt %s --smp-recover-composites -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: smp-interpret %t.mlir --precision=f64 --compare=%t.safetensors --tolerance=1e-12

// CHECK-LABEL: func.func @train
// CHECK: smp.rms_norm {{.*}} weight
// CHECK: smp.gelu {{.*}} form tanh
// CHECK: smp.rotary_embedding
// CHECK: smp.attention {{.*}} bias {{.*}} : tensor<2x1x6x6xf32> <none> scale 2.500000e-01
// CHECK: smp.attention {{.*}} bias {{.*}} : tensor<2x4x6x6xi1> <none> scale 5.000000e-01
// CHECK: smp.attention {{.*}} : tensor<2x4x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>
// CHECK: smp.linear {{.*}} : tensor<2x6x8xf32>, tensor<8x8xf32>

!q = tensor<2x4x6x8xf32>
!g = tensor<2x2x6x8xf32>
!s = tensor<2x4x6x6xf32>

smp.parameter @x : tensor<4x8xf32>
smp.parameter @w : tensor<8xf32>
smp.parameter @q : !q
smp.parameter @k : !q
smp.parameter @v : !q
smp.parameter @gk : !g
smp.parameter @gv : !g
smp.parameter @angles : tensor<6x4xf32>
smp.parameter @bias : tensor<2x1x6x6xf32>
smp.parameter @rows : tensor<2x6x8xf32>
smp.parameter @matrix : tensor<8x8xf32>

func.func @train() -> (tensor<4x8xf32> {smp.name = "norm"}, tensor<4x8xf32> {smp.name = "gelu"}, !q {smp.name = "rotary"}, !q {smp.name = "biased"}, !q {smp.name = "selected"}, !q {smp.name = "grouped"}, tensor<2x6x8xf32> {smp.name = "linear"}) {
  %x = smp.get_parameter @x as "x" : tensor<4x8xf32>
  %w = smp.get_parameter @w as "w" : tensor<8xf32>
  %q = smp.get_parameter @q as "q" : !q
  %k = smp.get_parameter @k as "k" : !q
  %v = smp.get_parameter @v as "v" : !q
  %gk = smp.get_parameter @gk as "gk" : !g
  %gv = smp.get_parameter @gv as "gv" : !g

  // Root-mean-square norm.
  %two = smp.fill 2.0 : tensor<4x8xf32>
  %square = smp.pow %x, %two : tensor<4x8xf32>
  %sum = smp.reduce_sum %square [1] : tensor<4x8xf32> -> tensor<4xf32>
  %eight = smp.fill 8.0 : tensor<4xf32>
  %mean = smp.div %sum, %eight : tensor<4xf32>
  %epsilon = smp.fill 0.1 : tensor<4xf32>
  %shifted = smp.add %mean, %epsilon : tensor<4xf32>
  %root = smp.rsqrt %shifted : tensor<4xf32>
  %column = smp.reshape %root : tensor<4xf32> -> tensor<4x1xf32>
  %factor = smp.expand %column [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %normed = smp.mul %x, %factor : tensor<4x8xf32>
  %weight = smp.expand %w [1] : tensor<8xf32> -> tensor<4x8xf32>
  %norm = smp.mul %weight, %normed : tensor<4x8xf32>

  // Gelu.
  %half = smp.fill 0.5 : tensor<4x8xf32>
  %halved = smp.mul %x, %half : tensor<4x8xf32>
  %three = smp.fill 3.0 : tensor<4x8xf32>
  %cube = smp.pow %x, %three : tensor<4x8xf32>
  %small = smp.fill 0.044715 : tensor<4x8xf32>
  %term = smp.mul %cube, %small : tensor<4x8xf32>
  %inner = smp.add %x, %term : tensor<4x8xf32>
  %scale = smp.fill 0.7978845608028654 : tensor<4x8xf32>
  %argument = smp.mul %inner, %scale : tensor<4x8xf32>
  %tanh = smp.tanh %argument : tensor<4x8xf32>
  %ones = smp.fill 1.0 : tensor<4x8xf32>
  %gate = smp.add %tanh, %ones : tensor<4x8xf32>
  %gelu = smp.mul %halved, %gate : tensor<4x8xf32>

  // Rotary embedding.
  %angles = smp.get_parameter @angles as "angles" : tensor<6x4xf32>
  %twice = smp.concat %angles, %angles dim 1 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %cos = smp.cos %twice : tensor<6x8xf32>
  %sin = smp.sin %twice : tensor<6x8xf32>
  %c = smp.expand %cos [2, 3] : tensor<6x8xf32> -> !q
  %s = smp.expand %sin [2, 3] : tensor<6x8xf32> -> !q
  %straight = smp.mul %q, %c : !q
  %q1 = smp.slice %q, 3 [0 : 4] : !q -> tensor<2x4x6x4xf32>
  %q2 = smp.slice %q, 3 [4 : 8] : !q -> tensor<2x4x6x4xf32>
  %n2 = smp.neg %q2 : tensor<2x4x6x4xf32>
  %turned = smp.concat %n2, %q1 dim 3 : (tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>) -> !q
  %across = smp.mul %turned, %s : !q
  %rotary = smp.add %straight, %across : !q

  // Attention with a bias that is added.
  %bias = smp.get_parameter @bias as "bias" : tensor<2x1x6x6xf32>
  %kt = smp.transpose %k [0, 1, 3, 2] : !q -> tensor<2x4x8x6xf32>
  %scores = smp.batch_matmul %q, %kt : !q, tensor<2x4x8x6xf32>
  %quarter = smp.fill 0.25 : !s
  %scaled = smp.mul %scores, %quarter : !s
  %repeated = smp.expand %bias [0, 1, 2, 3] : tensor<2x1x6x6xf32> -> !s
  %biased_scores = smp.add %scaled, %repeated : !s
  %weights = smp.softmax %biased_scores : !s
  %biased = smp.batch_matmul %weights, %v : !s, !q

  // Attention whose mask selects.
  %i = smp.iota 2 : tensor<2x4x6x6xi64>
  %j = smp.iota 3 : tensor<2x4x6x6xi64>
  %seen = smp.compare le %j, %i : tensor<2x4x6x6xi64>
  %divisor = smp.fill 2.0 : !s
  %divided = smp.div %scores, %divisor : !s
  %low = smp.fill -3.4028234663852886e+38 : !s
  %masked = smp.select %seen, %divided, %low : tensor<2x4x6x6xi1>, !s
  %weights2 = smp.softmax %masked : !s
  %selected = smp.batch_matmul %weights2, %v : !s, !q

  // Attention on repeated heads.
  %k1 = smp.reshape %gk : !g -> tensor<2x2x1x6x8xf32>
  %k2 = smp.expand %k1 [0, 1, 2, 3, 4] : tensor<2x2x1x6x8xf32> -> tensor<2x2x2x6x8xf32>
  %k3 = smp.reshape %k2 : tensor<2x2x2x6x8xf32> -> !q
  %v1 = smp.reshape %gv : !g -> tensor<2x2x1x6x8xf32>
  %v2 = smp.expand %v1 [0, 1, 2, 3, 4] : tensor<2x2x1x6x8xf32> -> tensor<2x2x2x6x8xf32>
  %v3 = smp.reshape %v2 : tensor<2x2x2x6x8xf32> -> !q
  %grouped, %lse = smp.attention %q, %k3, %v3 <causal> scale 0.5 : !q, !q, !q

  // A linear on flattened rows.
  %rows = smp.get_parameter @rows as "rows" : tensor<2x6x8xf32>
  %matrix = smp.get_parameter @matrix as "matrix" : tensor<8x8xf32>
  %flat = smp.reshape %rows : tensor<2x6x8xf32> -> tensor<12x8xf32>
  %product = smp.linear %flat, %matrix : tensor<12x8xf32>, tensor<8x8xf32>
  %vector = smp.expand %w [1] : tensor<8xf32> -> tensor<12x8xf32>
  %added = smp.add %product, %vector : tensor<12x8xf32>
  %linear = smp.reshape %added : tensor<12x8xf32> -> tensor<2x6x8xf32>

  return %norm, %gelu, %rotary, %biased, %selected, %grouped, %linear : tensor<4x8xf32>, tensor<4x8xf32>, !q, !q, !q, !q, tensor<2x6x8xf32>
}
