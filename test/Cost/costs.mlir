// RUN: smp-opt %s --smp-print-cost -o /dev/null | FileCheck %s

// One op of each kind whose cost is not one operation per element of the result
// and all its operands and results once.

func.func @train(%x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<2x8x4xf32>,
                 %q: tensor<1x4x3x8xf32>, %kv: tensor<1x2x5x8xf32>, %labels: tensor<8xi64>,
                 %scale: tensor<8xf32>, %logits: tensor<8x10xf32>,
                 %images: tensor<2x4x6x6xf32>, %kernels: tensor<8x2x3x3xf32>, %channels: tensor<4xf32>) {
  // 2 * 8 rows * 16 * 8.
  // CHECK-DAG: smp.linear 1 0 2,048 1,280 0
  %linear = smp.linear %x, %w : tensor<2x4x8xf32>, tensor<16x8xf32>
  // CHECK-DAG: smp.linear_weight_grad 1 0 2,048 1,280 0
  %linear_grad = smp.linear_weight_grad %linear, %x : tensor<2x4x16xf32>, tensor<2x4x8xf32>
  // 2 * 2 * 4 * 4 * 8.
  // CHECK-DAG: smp.batch_matmul 1 0 512
  %product = smp.batch_matmul %x, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>

  // All 15 pairs of each of 4 heads, whatever the mask; 2 * 8 + 2 * 8 + 5 operations each.
  // CHECK-DAG: smp.attention 1 0 2,220
  %out, %lse = smp.attention %q, %kv, %kv <causal> scale 1.0 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>
  // 6 * 8 + 4 * 8 + 8 operations each.
  // CHECK-DAG: smp.attention_grad 1 0 5,280
  %dq, %dk, %dv = smp.attention_grad %out, %q, %kv, %kv, %out, %lse <none> scale 1.0 : tensor<1x4x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3xf32>

  // 2 * 2 * 8 * 3 * 3 places of 2 * 3 * 3 products, and the bias.
  // CHECK-DAG: smp.conv2d 1 0 5,328
  %conv = smp.conv2d %images, %kernels bias %scale : tensor<8xf32> stride [2, 2] padding [1, 1] dilation [1, 1] groups 2 : tensor<2x4x6x6xf32>, tensor<8x2x3x3xf32>
  // CHECK-DAG: smp.conv2d_input_grad 1 0 5,184
  %dimages = smp.conv2d_input_grad %conv, %kernels size [6, 6] stride [2, 2] padding [1, 1] dilation [1, 1] groups 2 : tensor<2x8x3x3xf32>, tensor<8x2x3x3xf32>
  // CHECK-DAG: smp.conv2d_weight_grad 1 0 5,184
  %dkernels = smp.conv2d_weight_grad %conv, %images kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] groups 2 : tensor<2x8x3x3xf32>, tensor<2x4x6x6xf32>
  // 9 comparisons for each of 2 * 4 * 3 * 3 windows, and for each of 2 * 4 * 6 * 6 places.
  // CHECK-DAG: smp.max_pool2d 1 0 648
  %pool, %places = smp.max_pool2d %images kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x4x6x6xf32>
  // CHECK-DAG: smp.max_pool2d_grad 1 0 2,592
  %dpool = smp.max_pool2d_grad %pool, %places size [6, 6] kernel [3, 3] stride [2, 2] padding [1, 1] dilation [1, 1] : tensor<2x4x3x3xf32>, tensor<2x4x3x3xi32>
  // CHECK-DAG: smp.batch_norm 1 0 2,304
  %bn, %bm, %bs, %m1, %v1 = smp.batch_norm %images running %channels, %channels momentum 0.1 epsilon 1.0e-05 : tensor<2x4x6x6xf32>, tensor<4xf32>
  // CHECK-DAG: smp.batch_norm_grad 1 0 3,168
  %dbn, %dw, %db = smp.batch_norm_grad %bn, %images mean %bm rstd %bs : tensor<2x4x6x6xf32>, tensor<4xf32>
  // CHECK-DAG: smp.batch_norm_inference 1 0 1,152
  %inference = smp.batch_norm_inference %images running %channels, %channels epsilon 1.0e-05 : tensor<2x4x6x6xf32>, tensor<4xf32>

  // CHECK-DAG: smp.layer_norm 1 0 512
  %norm, %mean, %rstd = smp.layer_norm %x weight %scale : tensor<8xf32> epsilon 1.0e-05 : tensor<2x4x8xf32>
  // CHECK-DAG: smp.rms_norm 1 0 256
  %rms, %rrms = smp.rms_norm %x weight %scale : tensor<8xf32> epsilon 1.0e-05 : tensor<2x4x8xf32>
  // CHECK-DAG: smp.softmax 1 0 320
  %soft = smp.softmax %x : tensor<2x4x8xf32>
  // CHECK-DAG: smp.cross_entropy 1 0 320
  %sum, %count, %each = smp.cross_entropy %logits, %labels ignore -100 : tensor<8x10xf32>, tensor<8xi64>

  // Of the table only the chosen rows are read: 8 indices, 8 rows twice.
  // CHECK-DAG: smp.embedding 1 0 0 576 0
  %rows = smp.embedding %w, %labels : tensor<16x8xf32>, tensor<8xi64>
  // CHECK-DAG: smp.embedding_grad 1 0 64
  %rows_grad = smp.embedding_grad %rows, %labels rows 16 : tensor<8x8xf32>, tensor<8xi64>

  // CHECK-DAG: smp.reduce_sum 1 0 64
  %reduced = smp.reduce_sum %x [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  // Moves compute nothing, a reshape does not even move.
  // CHECK-DAG: smp.transpose 1 0 0 512 0
  %moved = smp.transpose %x [1, 0, 2] : tensor<2x4x8xf32> -> tensor<4x2x8xf32>
  // CHECK-DAG: smp.reshape 1 0 0 0 0
  %view = smp.reshape %x : tensor<2x4x8xf32> -> tensor<8x8xf32>
  return
}
