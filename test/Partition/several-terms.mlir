// RUN: smp-opt %s --smp-partition=partitions=1 --smp-stage -o /dev/null 2>&1 | FileCheck %s
// CHECK: warning: expects a loss of one term to evaluate, got 2: evaluation reports the mean of 'loss' alone, and training their sum

module attributes {smp.rows = 2 : i64} {
smp.parameter @"a.weight" : tensor<5x3xf32>
func.func @train(%x: tensor<2x3xf32> {smp.name = "x", smp.role = "input"}, %l: tensor<2xi64> {smp.name = "y", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}) {
  %w = smp.get_parameter @"a.weight" as "a.weight" : tensor<5x3xf32>
  %z = smp.linear %x, %w {scope = "a"} : tensor<2x3xf32>, tensor<5x3xf32>
  %s, %n, %lse = smp.cross_entropy %z, %l ignore -100 : tensor<2x5xf32>, tensor<2xi64>
  %loss = smp.mean_loss "loss" %s by %n : tensor<f32>
  %size = smp.reduce_sum %z [0, 1] : tensor<2x5xf32> -> tensor<f32>
  %ten = smp.fill 10.0 : tensor<i64>
  %more = smp.mean_loss "size" %size by %ten : tensor<f32>
  %sum = smp.add %loss, %more : tensor<f32>
  return %sum : tensor<f32>
}
}
