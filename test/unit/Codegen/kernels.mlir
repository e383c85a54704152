// Each function is lowered and compared with the interpreter on random operands.
// Sizes are odd, so that rows end inside a vector. `test.low` and `test.high`
// bound the operand's elements; integers are below `test.high`.

func.func @unary(%x: tensor<3x37xf32>) -> (tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>) {
  %0 = smp.neg %x : tensor<3x37xf32>
  %1 = smp.exp %x : tensor<3x37xf32>
  %2 = smp.tanh %1 : tensor<3x37xf32>
  %3 = smp.sigmoid %x : tensor<3x37xf32>
  %4 = smp.silu %x : tensor<3x37xf32>
  %5 = smp.abs %x : tensor<3x37xf32>
  %6 = smp.sin %x : tensor<3x37xf32>
  return %0, %2, %3, %4, %5, %6 : tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>, tensor<3x37xf32>
}
func.func @unary_positive(%x: tensor<5x7xf32> {test.low = 0.1, test.high = 3.0}) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) {
  %0 = smp.log %x : tensor<5x7xf32>
  %1 = smp.sqrt %x : tensor<5x7xf32>
  %2 = smp.rsqrt %x : tensor<5x7xf32>
  %3 = smp.cos %x : tensor<5x7xf32>
  return %0, %1, %2, %3 : tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>
}
func.func @activations(%x: tensor<4x50xf32> {test.low = -4.0, test.high = 4.0}, %c: tensor<4x50xf32>) -> (tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>) {
  %0 = smp.gelu %x : tensor<4x50xf32>
  %1 = smp.gelu %x form tanh : tensor<4x50xf32>
  %2 = smp.gelu_grad %x, %c : tensor<4x50xf32>
  %3 = smp.gelu_grad %x, %c form tanh : tensor<4x50xf32>
  %4 = smp.silu_grad %x, %c : tensor<4x50xf32>
  %5 = smp.relu %x : tensor<4x50xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>, tensor<4x50xf32>
}
func.func @binary(%x: tensor<2x3x5xf32>, %y: tensor<2x3x5xf32> {test.low = 0.5, test.high = 2.0}) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  %0 = smp.add %x, %y : tensor<2x3x5xf32>
  %1 = smp.sub %0, %y : tensor<2x3x5xf32>
  %2 = smp.mul %x, %1 : tensor<2x3x5xf32>
  %3 = smp.div %x, %y : tensor<2x3x5xf32>
  %4 = smp.maximum %x, %y : tensor<2x3x5xf32>
  %5 = smp.minimum %x, %y : tensor<2x3x5xf32>
  return %0, %2, %3, %4, %5 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>
}
func.func @power(%x: tensor<19xf32> {test.low = 0.5, test.high = 2.0}, %y: tensor<19xf32>) -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>) {
  %two = smp.fill 2.0 : tensor<19xf32>
  %three = smp.fill 3.0 : tensor<19xf32>
  %0 = smp.pow %x, %two : tensor<19xf32>
  %1 = smp.pow %x, %three : tensor<19xf32>
  %2 = smp.pow %x, %y : tensor<19xf32>
  return %0, %1, %2 : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>
}
func.func @logic(%x: tensor<7x9xf32>, %y: tensor<7x9xf32>) -> (tensor<7x9xi1>, tensor<7x9xf32>, tensor<7x9xi64>) {
  %0 = smp.compare lt %x, %y : tensor<7x9xf32>
  %zero = smp.fill 0.0 : tensor<7x9xf32>
  %1 = smp.compare ge %x, %zero : tensor<7x9xf32>
  %2 = smp.and %0, %1 : tensor<7x9xi1>
  %3 = smp.not %1 : tensor<7x9xi1>
  %4 = smp.or %2, %3 : tensor<7x9xi1>
  %5 = smp.select %4, %x, %y : tensor<7x9xi1>, tensor<7x9xf32>
  %6 = smp.cast %4 : tensor<7x9xi1> -> tensor<7x9xi64>
  return %4, %5, %6 : tensor<7x9xi1>, tensor<7x9xf32>, tensor<7x9xi64>
}
func.func @bias(%x: tensor<6x21xf32>, %b: tensor<21xf32>, %r: tensor<6x1xf32>) -> tensor<6x21xf32> {
  %0 = smp.expand %b [1] : tensor<21xf32> -> tensor<6x21xf32>
  %1 = smp.expand %r [0, 1] : tensor<6x1xf32> -> tensor<6x21xf32>
  %2 = smp.add %x, %0 : tensor<6x21xf32>
  %3 = smp.mul %2, %1 : tensor<6x21xf32>
  return %3 : tensor<6x21xf32>
}
func.func @heads(%x: tensor<2x5x48xf32>, %b: tensor<48xf32>) -> (tensor<2x4x5x4xf32>, tensor<2x5x4x4xf32>) {
  %0 = smp.slice %x, 2 [16 : 32] : tensor<2x5x48xf32> -> tensor<2x5x16xf32>
  %1 = smp.reshape %0 : tensor<2x5x16xf32> -> tensor<2x5x4x4xf32>
  %2 = smp.transpose %1 [0, 2, 1, 3] : tensor<2x5x4x4xf32> -> tensor<2x4x5x4xf32>
  return %2, %1 : tensor<2x4x5x4xf32>, tensor<2x5x4x4xf32>
}
func.func @moves(%x: tensor<5x34xf32>, %y: tensor<5x3xf32>) -> (tensor<34x5xf32>, tensor<5x40xf32>, tensor<5x37xf32>, tensor<3x34xf32>, tensor<5x13xf32>, tensor<34xi64>) {
  %0 = smp.transpose %x [1, 0] : tensor<5x34xf32> -> tensor<34x5xf32>
  %1 = smp.pad %x, 1 low 2 high 4 with 0.5 : tensor<5x34xf32> -> tensor<5x40xf32>
  %2 = smp.concat %x, %y dim 1 : (tensor<5x34xf32>, tensor<5x3xf32>) -> tensor<5x37xf32>
  %3 = smp.slice %x, 0 [0 : 5 : 2] : tensor<5x34xf32> -> tensor<3x34xf32>
  %4 = smp.pad %y, 1 low 1 high 1 interior 4 with 0.0 : tensor<5x3xf32> -> tensor<5x13xf32>
  %5 = smp.iota 0 : tensor<34xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<34x5xf32>, tensor<5x40xf32>, tensor<5x37xf32>, tensor<3x34xf32>, tensor<5x13xf32>, tensor<34xi64>
}
func.func @reshaped_sum(%x: tensor<4x6xf32>, %y: tensor<2x12xf32>) -> tensor<3x8xf32> {
  %0 = smp.reshape %x : tensor<4x6xf32> -> tensor<3x8xf32>
  %1 = smp.transpose %y [1, 0] : tensor<2x12xf32> -> tensor<12x2xf32>
  %2 = smp.reshape %1 : tensor<12x2xf32> -> tensor<3x8xf32>
  %3 = smp.add %0, %2 : tensor<3x8xf32>
  return %3 : tensor<3x8xf32>
}
func.func @embedding(%t: tensor<11x20xf32>, %i: tensor<2x6xi64> {test.high = 11.0}, %c: tensor<2x6x20xf32>) -> (tensor<2x6x20xf32>, tensor<11x20xf32>) {
  %0 = smp.embedding %t, %i : tensor<11x20xf32>, tensor<2x6xi64>
  %1 = smp.embedding_grad %c, %i rows 11 : tensor<2x6x20xf32>, tensor<2x6xi64>
  return %0, %1 : tensor<2x6x20xf32>, tensor<11x20xf32>
}
func.func @gather(%x: tensor<4x9xf32>, %i: tensor<4x3xi64> {test.high = 9.0}, %c: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x9xf32>) {
  %0 = smp.gather %x, %i, 1 : tensor<4x9xf32>, tensor<4x3xi64>
  %1 = smp.gather_grad %c, %i, 1 extent 9 : tensor<4x3xf32>, tensor<4x3xi64>
  return %0, %1 : tensor<4x3xf32>, tensor<4x9xf32>
}
func.func @gathers_in_tiles(%i: tensor<7x23x31xi64> {test.high = 29.0}, %j: tensor<29x7x31xi64> {test.high = 23.0}, %k: tensor<29x23x7xi64> {test.high = 31.0}, %c: tensor<7x23x31xf32>, %d: tensor<29x7x31xf32>, %e: tensor<29x23x7xf32>) -> (tensor<29x23x31xf32>, tensor<29x23x31xf32>, tensor<29x23x31xf32>) {
  %0 = smp.gather_grad %c, %i, 0 extent 29 : tensor<7x23x31xf32>, tensor<7x23x31xi64>
  %1 = smp.gather_grad %d, %j, 1 extent 23 : tensor<29x7x31xf32>, tensor<29x7x31xi64>
  %2 = smp.gather_grad %e, %k, 2 extent 31 : tensor<29x23x7xf32>, tensor<29x23x7xi64>
  return %0, %1, %2 : tensor<29x23x31xf32>, tensor<29x23x31xf32>, tensor<29x23x31xf32>
}
func.func @sum_of_rows_chosen_twice(%x: tensor<1x7x4xf32>, %i: tensor<7xi64> {test.high = 7.0}, %j: tensor<4xi64> {test.high = 4.0}) -> (tensor<1xf32>, tensor<1x7x4xf32>) {
  %18 = smp.transpose %x [1, 0, 2] : tensor<1x7x4xf32> -> tensor<7x1x4xf32>
  %19 = smp.reshape %18 : tensor<7x1x4xf32> -> tensor<7x4xf32>
  %20 = smp.embedding %19, %i : tensor<7x4xf32>, tensor<7xi64>
  %21 = smp.reshape %20 : tensor<7x4xf32> -> tensor<7x1x4xf32>
  %22 = smp.transpose %21 [1, 0, 2] : tensor<7x1x4xf32> -> tensor<1x7x4xf32>
  %28 = smp.transpose %22 [2, 0, 1] : tensor<1x7x4xf32> -> tensor<4x1x7xf32>
  %29 = smp.reshape %28 : tensor<4x1x7xf32> -> tensor<4x7xf32>
  %30 = smp.embedding %29, %j : tensor<4x7xf32>, tensor<4xi64>
  %31 = smp.reshape %30 : tensor<4x7xf32> -> tensor<4x1x7xf32>
  %32 = smp.transpose %31 [1, 2, 0] : tensor<4x1x7xf32> -> tensor<1x7x4xf32>
  %33 = smp.reduce_sum %32 [1, 2] : tensor<1x7x4xf32> -> tensor<1xf32>
  return %33, %32 : tensor<1xf32>, tensor<1x7x4xf32>
}
func.func @sums(%x: tensor<3x5x70xf32>) -> (tensor<3x5xf32>, tensor<70xf32>, tensor<f32>, tensor<5xf32>, tensor<3x70xf32>, tensor<3x5xf32>) {
  %0 = smp.reduce_sum %x [2] : tensor<3x5x70xf32> -> tensor<3x5xf32>
  %1 = smp.reduce_sum %x [0, 1] : tensor<3x5x70xf32> -> tensor<70xf32>
  %2 = smp.reduce_sum %x [0, 1, 2] : tensor<3x5x70xf32> -> tensor<f32>
  %3 = smp.reduce_sum %x [0, 2] : tensor<3x5x70xf32> -> tensor<5xf32>
  %4 = smp.reduce_max %x [1] : tensor<3x5x70xf32> -> tensor<3x70xf32>
  %5 = smp.reduce_max %x [2] : tensor<3x5x70xf32> -> tensor<3x5xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<3x5xf32>, tensor<70xf32>, tensor<f32>, tensor<5xf32>, tensor<3x70xf32>, tensor<3x5xf32>
}
func.func @fused_sum(%x: tensor<6x64xf32>, %y: tensor<6x64xf32>) -> tensor<64xf32> {
  %0 = smp.mul %x, %y : tensor<6x64xf32>
  %1 = smp.exp %0 : tensor<6x64xf32>
  %2 = smp.reduce_sum %1 [0] : tensor<6x64xf32> -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
func.func @cumsum(%x: tensor<3x6xi64> {test.high = 5.0}) -> (tensor<3x6xi64>, tensor<3x6xi64>) {
  %0 = smp.cumsum %x, 1 : tensor<3x6xi64>
  %1 = smp.cumsum %x, 0 reverse : tensor<3x6xi64>
  return %0, %1 : tensor<3x6xi64>, tensor<3x6xi64>
}
func.func @layer_norm(%x: tensor<2x3x37xf32>, %w: tensor<37xf32>, %b: tensor<37xf32>, %c: tensor<2x3x37xf32>) -> (tensor<2x3x37xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x37xf32>, tensor<37xf32>, tensor<37xf32>) {
  %0, %m, %r = smp.layer_norm %x weight %w : tensor<37xf32> bias %b : tensor<37xf32> epsilon 1.0e-5 : tensor<2x3x37xf32>
  %dx, %dw, %db = smp.layer_norm_grad %c, %x weight %w : tensor<37xf32> mean %m rstd %r : tensor<2x3x37xf32>, tensor<2x3xf32>
  return %0, %m, %r, %dx, %dw, %db : tensor<2x3x37xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x37xf32>, tensor<37xf32>, tensor<37xf32>
}
func.func @rms_norm(%x: tensor<5x64xf32>, %w: tensor<64xf32>, %c: tensor<5x64xf32>) -> (tensor<5x64xf32>, tensor<5x64xf32>, tensor<64xf32>) {
  %0, %r = smp.rms_norm %x weight %w : tensor<64xf32> epsilon 1.0e-5 : tensor<5x64xf32>
  %dx, %dw = smp.rms_norm_grad %c, %x weight %w : tensor<64xf32> rstd %r : tensor<5x64xf32>, tensor<5xf32>
  return %0, %dx, %dw : tensor<5x64xf32>, tensor<5x64xf32>, tensor<64xf32>
}
func.func @softmax(%x: tensor<3x19xf32>, %c: tensor<3x19xf32>) -> (tensor<3x19xf32>, tensor<3x19xf32>) {
  %0 = smp.softmax %x : tensor<3x19xf32>
  %1 = smp.softmax_grad %c, %0 : tensor<3x19xf32>
  return %0, %1 : tensor<3x19xf32>, tensor<3x19xf32>
}
func.func @cross_entropy(%x: tensor<6x33xf32>, %y: tensor<6xi64> {test.high = 33.0}) -> (tensor<f32>, tensor<i64>, tensor<6xf32>, tensor<6x33xf32>, tensor<f32>) {
  %s, %n, %l = smp.cross_entropy %x, %y ignore 3 : tensor<6x33xf32>, tensor<6xi64>
  %m = smp.mean_loss "loss" %s by %n : tensor<f32>
  %g = smp.cross_entropy_grad %s, %x, %y, %l ignore 3 : tensor<6x33xf32>, tensor<6xi64>, tensor<6xf32>, tensor<f32>
  return %s, %n, %l, %g, %m : tensor<f32>, tensor<i64>, tensor<6xf32>, tensor<6x33xf32>, tensor<f32>
}
func.func @products(%x: tensor<2x3x5xf32>, %w: tensor<7x5xf32>, %v: tensor<5x7xf32>, %c: tensor<2x3x7xf32>) -> (tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<7x5xf32>, tensor<5x7xf32>) {
  %0 = smp.linear %x, %w : tensor<2x3x5xf32>, tensor<7x5xf32>
  %1 = smp.linear %x, %v transposed : tensor<2x3x5xf32>, tensor<5x7xf32>
  %2 = smp.linear_weight_grad %c, %x : tensor<2x3x7xf32>, tensor<2x3x5xf32>
  %3 = smp.linear_weight_grad %c, %x transposed : tensor<2x3x7xf32>, tensor<2x3x5xf32>
  return %0, %1, %2, %3 : tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<7x5xf32>, tensor<5x7xf32>
}
func.func @attention(%q: tensor<2x4x19x8xf32>, %k: tensor<2x2x19x8xf32>, %v: tensor<2x2x19x8xf32>, %c: tensor<2x4x19x8xf32>) -> (tensor<2x4x19x8xf32>, tensor<2x4x19xf32>, tensor<2x4x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>) {
  %o, %l = smp.attention %q, %k, %v <causal> scale 0.35 dropout 0.25 site 4 : tensor<2x4x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>
  %dq, %dk, %dv = smp.attention_grad %c, %q, %k, %v, %o, %l <causal> scale 0.35 dropout 0.25 site 4 : tensor<2x4x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x4x19x8xf32>, tensor<2x4x19xf32>
  return %o, %l, %dq, %dk, %dv : tensor<2x4x19x8xf32>, tensor<2x4x19xf32>, tensor<2x4x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>
}
func.func @attention_window(%q: tensor<2x2x43x8xf32>, %k: tensor<2x2x37x8xf32>, %v: tensor<2x2x37x8xf32>, %c: tensor<2x2x43x8xf32>) -> (tensor<2x2x43x8xf32>, tensor<2x2x43x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32>) {
  %o, %l = smp.attention %q, %k, %v <window, 4, 2> scale 0.35 dropout 0.25 site 4 : tensor<2x2x43x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32>
  %dq, %dk, %dv = smp.attention_grad %c, %q, %k, %v, %o, %l <window, 4, 2> scale 0.35 dropout 0.25 site 4 : tensor<2x2x43x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x43x8xf32>, tensor<2x2x43xf32>
  return %o, %dq, %dk, %dv : tensor<2x2x43x8xf32>, tensor<2x2x43x8xf32>, tensor<2x2x37x8xf32>, tensor<2x2x37x8xf32>
}
func.func @attention_prefix(%q: tensor<2x2x19x8xf32>, %k: tensor<2x2x19x8xf32>, %v: tensor<2x2x19x8xf32>, %c: tensor<2x2x19x8xf32>) -> (tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>) {
  %o, %l = smp.attention %q, %k, %v <prefix, 6> scale 0.35 : tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>
  %dq, %dk, %dv = smp.attention_grad %c, %q, %k, %v, %o, %l <prefix, 6> scale 0.35 : tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19xf32>
  return %o, %dq, %dk, %dv : tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>, tensor<2x2x19x8xf32>
}
func.func @attention_bias_gradient(%q: tensor<3x4x19x8xf32>, %k: tensor<3x2x21x8xf32>, %v: tensor<3x2x21x4xf32>, %b: tensor<1x4x19x21xf32>, %c: tensor<3x4x19x4xf32>) -> (tensor<3x4x19x4xf32>, tensor<3x4x19x8xf32>, tensor<3x2x21x8xf32>, tensor<3x2x21x4xf32>, tensor<1x4x19x21xf32>) {
  %o, %l = smp.attention %q, %k, %v bias %b : tensor<1x4x19x21xf32> <causal> scale 0.35 dropout 0.25 site 4 : tensor<3x4x19x8xf32>, tensor<3x2x21x8xf32>, tensor<3x2x21x4xf32>
  %dq, %dk, %dv, %db = smp.attention_grad %c, %q, %k, %v, %o, %l bias %b : tensor<1x4x19x21xf32> bias_gradient <causal> scale 0.35 dropout 0.25 site 4 : tensor<3x4x19x8xf32>, tensor<3x2x21x8xf32>, tensor<3x2x21x4xf32>, tensor<3x4x19x4xf32>, tensor<3x4x19xf32>
  return %o, %dq, %dk, %dv, %db : tensor<3x4x19x4xf32>, tensor<3x4x19x8xf32>, tensor<3x2x21x8xf32>, tensor<3x2x21x4xf32>, tensor<1x4x19x21xf32>
}
func.func @attention_bias(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x21x8xf32>, %v: tensor<1x2x21x4xf32>, %b: tensor<1x1x5x21xf32>) -> tensor<1x2x5x4xf32> {
  %o, %l = smp.attention %q, %k, %v bias %b : tensor<1x1x5x21xf32> <none> scale 0.5 : tensor<1x2x5x8xf32>, tensor<1x2x21x8xf32>, tensor<1x2x21x4xf32>
  return %o : tensor<1x2x5x4xf32>
}
func.func @rotary(%x: tensor<2x3x5x32xf32>, %cos: tensor<5x16xf32>, %sin: tensor<5x16xf32>, %y: tensor<2x7x6xf32>, %cos2: tensor<7x3xf32>, %sin2: tensor<7x3xf32>) -> (tensor<2x3x5x32xf32>, tensor<2x7x6xf32>) {
  %0 = smp.rotary_embedding %x, %cos, %sin : tensor<2x3x5x32xf32>, tensor<5x16xf32>
  %1 = smp.rotary_embedding %y, %cos2, %sin2 : tensor<2x7x6xf32>, tensor<7x3xf32>
  return %0, %1 : tensor<2x3x5x32xf32>, tensor<2x7x6xf32>
}
func.func @dropout(%x: tensor<4x9x16xf32>, %y: tensor<6x5xf32>) -> (tensor<4x9x16xf32>, tensor<4x9x16xf32>, tensor<6x5xf32>) {
  %0 = smp.dropout %x probability 0.3 site 7 : tensor<4x9x16xf32>
  %1 = smp.dropout %x probability 0.3 site 8 : tensor<4x9x16xf32>
  %2 = smp.dropout %y probability 0.5 site 2 rows_per_sample 3 : tensor<6x5xf32>
  return %0, %1, %2 : tensor<4x9x16xf32>, tensor<4x9x16xf32>, tensor<6x5xf32>
}
func.func @adamw(%p: tensor<5x41xf32>, %g: tensor<5x41xf32>, %m: tensor<5x41xf32>, %v: tensor<5x41xf32> {test.low = 0.0, test.high = 1.0}, %n: tensor<f64> {test.low = 2.0, test.high = 9.0}) -> (tensor<5x41xf32>, tensor<5x41xf32>, tensor<5x41xf32>, tensor<f64>) {
  %s = smp.clip_factor %n max 1.0
  %lr = smp.step_value learning_rate
  %b1 = smp.step_value bias_correction1
  %b2 = smp.step_value bias_correction2
  %0, %1, %2 = smp.adamw %p, %g, %m, %v rate %lr corrections %b1, %b2 scale %s betas 0.9, 0.999 epsilon 1.0e-8 decay 0.01 : tensor<5x41xf32>
  return %0, %1, %2, %s : tensor<5x41xf32>, tensor<5x41xf32>, tensor<5x41xf32>, tensor<f64>
}
// A norm that is not a number makes every gradient so, as in PyTorch.
func.func @clip_factor_of_no_number(%z: tensor<f64> {test.low = 0.0, test.high = 0.0}) -> tensor<i1> {
  %n = smp.div %z, %z : tensor<f64>
  %s = smp.clip_factor %n max 1.0
  %0 = smp.compare ne %s, %s : tensor<f64>
  return %0 : tensor<i1>
}
func.func @sgd(%p: tensor<45xf32>, %g: tensor<45xf32>, %m: tensor<45xf32>) -> (tensor<45xf32>, tensor<45xf32>, tensor<45xf32>) {
  %lr = smp.step_value learning_rate
  %0, %1 = smp.sgd %p, %g buffer %m : tensor<45xf32> rate %lr momentum 0.9 decay 0.1 : tensor<45xf32>
  %2, %3 = smp.sgd %p, %g rate %lr momentum 0.0 decay 0.0 : tensor<45xf32>
  return %0, %1, %2 : tensor<45xf32>, tensor<45xf32>, tensor<45xf32>
}
func.func @squares(%x: tensor<3x50xf32>, %y: tensor<7xf32>) -> tensor<f64> {
  %0 = smp.sum_of_squares %x : tensor<3x50xf32>
  %1 = smp.sum_of_squares %y : tensor<7xf32>
  %z = smp.fill 0.0 : tensor<2xf64>
  %2 = smp.concat %0, %z, %1 dim 0 : (tensor<1xf64>, tensor<2xf64>, tensor<1xf64>) -> tensor<4xf64>
  %3 = smp.reduce_sum %2 [0] : tensor<4xf64> -> tensor<f64>
  %4 = smp.sqrt %3 : tensor<f64>
  return %4 : tensor<f64>
}
func.func @diamond(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = smp.exp %x : tensor<4x8xf32>
  %s = smp.reduce_sum %0 [1] : tensor<4x8xf32> -> tensor<4xf32>
  %e = smp.expand %s [0] : tensor<4xf32> -> tensor<4x8xf32>
  %1 = smp.div %0, %e : tensor<4x8xf32>
  %2 = smp.add %1, %0 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
func.func @convolutions(%x: tensor<6x4x9x7xf32>, %w: tensor<6x2x3x2xf32>, %b: tensor<6xf32>, %c: tensor<6x6x5x7xf32>) -> (tensor<6x6x5x7xf32>, tensor<6x4x9x7xf32>, tensor<6x2x3x2xf32>) {
  %0 = smp.conv2d %x, %w bias %b : tensor<6xf32> stride [2, 1] padding [1, 1] dilation [1, 2] groups 2 : tensor<6x4x9x7xf32>, tensor<6x2x3x2xf32>
  %1 = smp.conv2d_input_grad %c, %w size [9, 7] stride [2, 1] padding [1, 1] dilation [1, 2] groups 2 : tensor<6x6x5x7xf32>, tensor<6x2x3x2xf32>
  %2 = smp.conv2d_weight_grad %c, %x kernel [3, 2] stride [2, 1] padding [1, 1] dilation [1, 2] groups 2 : tensor<6x6x5x7xf32>, tensor<6x4x9x7xf32>
  return %0, %1, %2 : tensor<6x6x5x7xf32>, tensor<6x4x9x7xf32>, tensor<6x2x3x2xf32>
}
func.func @weight_gradient_in_one_part(%c: tensor<1x3x4x4xf32>, %x: tensor<1x1x4x4xf32>) -> tensor<3x1x1x1xf32> {
  %0 = smp.conv2d_weight_grad %c, %x kernel [1, 1] stride [1, 1] padding [0, 0] dilation [1, 1] groups 1 : tensor<1x3x4x4xf32>, tensor<1x1x4x4xf32>
  return %0 : tensor<3x1x1x1xf32>
}
func.func @max_pools(%x: tensor<2x3x11x21xf32>, %c: tensor<2x3x6x11xf32>, %d: tensor<2x3x11x19xf32>) -> (tensor<2x3x6x11xf32>, tensor<2x3x6x11xi32>, tensor<2x3x11x21xf32>, tensor<2x3x11x19xf32>, tensor<2x3x11x21xf32>) {
  %r, %p = smp.max_pool2d %x kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x3x11x21xf32>
  %0 = smp.max_pool2d_grad %c, %p size [11, 21] kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x3x6x11xf32>, tensor<2x3x6x11xi32>
  %s, %q = smp.max_pool2d %x kernel [3, 2] stride [1, 1] padding [1, 0] dilation [1, 2] : tensor<2x3x11x21xf32>
  %1 = smp.max_pool2d_grad %d, %q size [11, 21] kernel [3, 2] stride [1, 1] padding [1, 0] dilation [1, 2] : tensor<2x3x11x19xf32>, tensor<2x3x11x19xi32>
  return %r, %p, %0, %s, %1 : tensor<2x3x6x11xf32>, tensor<2x3x6x11xi32>, tensor<2x3x11x21xf32>, tensor<2x3x11x19xf32>, tensor<2x3x11x21xf32>
}
func.func @max_pool_of_equal_elements(%x: tensor<1x2x5x18xf32> {test.low = -3.0, test.high = 3.0}, %c: tensor<1x2x3x9xf32>) -> (tensor<1x2x3x9xi32>, tensor<1x2x5x18xf32>) {
  %i = smp.cast %x : tensor<1x2x5x18xf32> -> tensor<1x2x5x18xi64>
  %0 = smp.cast %i : tensor<1x2x5x18xi64> -> tensor<1x2x5x18xf32>
  %r, %p = smp.max_pool2d %0 kernel [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1] ceil : tensor<1x2x5x18xf32>
  %1 = smp.max_pool2d_grad %c, %p size [5, 18] kernel [2, 2] stride [2, 2] padding [0, 0] dilation [1, 1] : tensor<1x2x3x9xf32>, tensor<1x2x3x9xi32>
  return %p, %1 : tensor<1x2x3x9xi32>, tensor<1x2x5x18xf32>
}
func.func @batch_norms(%x: tensor<3x5x4x7xf32>, %c: tensor<3x5x4x7xf32>, %w: tensor<5xf32>, %b: tensor<5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32> {test.low = 0.5, test.high = 2.0}) -> (tensor<3x5x4x7xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x5x4x7xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x5x4x7xf32>) {
  %r, %mean, %rstd, %m1, %v1 = smp.batch_norm %x weight %w : tensor<5xf32> bias %b : tensor<5xf32> running %m, %v momentum 0.1 epsilon 1.0e-5 : tensor<3x5x4x7xf32>, tensor<5xf32>
  %dx, %dw, %db = smp.batch_norm_grad %c, %x weight %w : tensor<5xf32> mean %mean rstd %rstd : tensor<3x5x4x7xf32>, tensor<5xf32>
  %y = smp.batch_norm_inference %x weight %w : tensor<5xf32> bias %b : tensor<5xf32> running %m, %v epsilon 1.0e-5 : tensor<3x5x4x7xf32>, tensor<5xf32>
  return %r, %mean, %rstd, %m1, %v1, %dx, %dw, %db, %y : tensor<3x5x4x7xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x5x4x7xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x5x4x7xf32>
}
func.func @batch_norm_of_rows(%x: tensor<19x5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32> {test.low = 0.5, test.high = 2.0}) -> (tensor<19x5xf32>, tensor<5xf32>, tensor<19x5xf32>) {
  %r, %mean, %rstd, %m1, %v1 = smp.batch_norm %x running %m, %v momentum 0.25 epsilon 1.0e-3 : tensor<19x5xf32>, tensor<5xf32>
  %y = smp.batch_norm_inference %x running %m, %v epsilon 1.0e-3 : tensor<19x5xf32>, tensor<5xf32>
  return %r, %v1, %y : tensor<19x5xf32>, tensor<5xf32>, tensor<19x5xf32>
}
