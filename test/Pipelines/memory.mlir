// What a run takes depends on what it does. The loss of this model is of the
// last token alone, so its evaluation takes no more than training does; what
// generates computes logits of all tokens.
// RUN: smp-compile %s -o %t --batch-size=1024 2>&1 | FileCheck %s
// CHECK:      memory: pp rank 0 takes
// CHECK-NEXT: memory with --generate: pp rank 0 takes
// CHECK-NOT:  memory

// Evaluation may have more microbatches on their way than training, whose last
// stage begins to go back at once.
// RUN: smp-compile %S/../models/data/mlp.pt2 -o %t --batch-size=256 --microbatches=2 --pipeline-parallel-degree=2 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES:      memory: pp rank 0 takes
// STAGES-NEXT: memory: pp rank 1 takes
// STAGES-NEXT: memory with --eval-data: pp rank 0 takes
// STAGES-NEXT: memory with --eval-data: pp rank 1 takes
// STAGES-NOT:  memory

module attributes {smp.batch = 2 : i64, smp.data_convention = "next-token"} {
  smp.parameter @table : tensor<256x32xf32> init <normal, 0.0, 1.0>
  smp.parameter @inner : tensor<32x32xf32> init <normal, 0.0, 0.2>
  smp.parameter @head : tensor<256x32xf32> init <normal, 0.0, 0.2>
  func.func @train(%tokens: tensor<?x64xi64> {smp.name = "tokens", smp.role = "input"}, %labels: tensor<?x64xi64> {smp.name = "labels", smp.role = "label"}) -> (tensor<f32> {smp.name = "loss", smp.role = "loss"}, tensor<?x64x256xf32> {smp.name = "logits", smp.role = "output"}) {
    %rows = smp.dim %tokens, 0 : tensor<?x64xi64>
    %table = smp.get_parameter @table as "table" : tensor<256x32xf32>
    %inner = smp.get_parameter @inner as "inner" : tensor<32x32xf32>
    %head = smp.get_parameter @head as "head" : tensor<256x32xf32>
    %embedded = smp.embedding %table, %tokens : tensor<256x32xf32>, tensor<?x64xi64>
    %linear = smp.linear %embedded, %inner : tensor<?x64x32xf32>, tensor<32x32xf32>
    %hidden = smp.gelu %linear : tensor<?x64x32xf32>
    %last = smp.slice %hidden, 1[63 : 64] : tensor<?x64x32xf32> -> tensor<?x1x32xf32>
    %row = smp.reshape %last[%rows] : tensor<?x1x32xf32> -> tensor<?x32xf32>
    %logits = smp.linear %row, %head : tensor<?x32xf32>, tensor<256x32xf32>
    %label = smp.slice %labels, 1[63 : 64] : tensor<?x64xi64> -> tensor<?x1xi64>
    %target = smp.reshape %label[%rows] : tensor<?x1xi64> -> tensor<?xi64>
    %sum, %count, %lse = smp.cross_entropy %logits, %target ignore -100 : tensor<?x256xf32>, tensor<?xi64>
    %loss = smp.mean_loss "loss" %sum by %count : tensor<f32>
    %all = smp.linear %hidden, %head : tensor<?x64x32xf32>, tensor<256x32xf32>
    return %loss, %all : tensor<f32>, tensor<?x64x256xf32>
  }
}
