// RUN: smp-opt %s --smp-print-cost -o /dev/null | FileCheck %s
// RUN: not smp-opt %s --smp-print-cost=function=dynamic -o /dev/null 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not smp-opt %s --smp-print-cost=function=absent -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not smp-opt %s --smp-print-cost=format=yaml -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: smp-opt %s --smp-print-cost=format=json -o /dev/null | FileCheck %s --check-prefix=JSON

// The tied table is counted once. The embedding is read again in the backward
// pass; the product keeps its operand, of which the reshape is a view.

smp.parameter @model.embed.weight : tensor<1000x8xf32> aliases ["model.head.weight"]
smp.parameter @model.block.mlp.weight : tensor<8x8xf32>

func.func @train(%ids: tensor<4xi64>, %labels: tensor<4xi64>) -> tensor<f32> {
  %table = smp.get_parameter @model.embed.weight as "model.embed.weight" : tensor<1000x8xf32>
  %w = smp.get_parameter @model.block.mlp.weight as "model.block.mlp.weight" : tensor<8x8xf32>
  %head = smp.get_parameter @model.embed.weight as "model.head.weight" : tensor<1000x8xf32>
  %0 = smp.embedding %table, %ids {scope = "model.embed"} : tensor<1000x8xf32>, tensor<4xi64>
  %1 = smp.linear %0, %w {scope = "model.block.mlp"} : tensor<4x8xf32>, tensor<8x8xf32>
  %2 = smp.reshape %1 {scope = "model"} : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %3 = smp.linear %2, %head {scope = "model.head"} : tensor<2x2x8xf32>, tensor<1000x8xf32>
  %4 = smp.reshape %3 {scope = "loss"} : tensor<2x2x1000xf32> -> tensor<4x1000xf32>
  %sum, %count, %lse = smp.cross_entropy %4, %labels ignore -100 {scope = "loss"} : tensor<4x1000xf32>, tensor<4xi64>
  %5 = smp.mean_loss "loss" %sum by %count {scope = "loss"} : tensor<f32>
  return %5 : tensor<f32>
}

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = smp.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK:      module  ops parameters flops bytes saved bytes
// CHECK-NEXT: loss 3 0 16,001
// CHECK-NEXT: model 4 8,064 64,512
// CHECK-NEXT: model.block 1 64 512
// CHECK-NEXT: model.block.mlp 1 64 512 512 0
// CHECK-NEXT: model.embed 1 8,000 0 288 0
// CHECK-NEXT: model.head 1 0 64,000 48,128 128
// CHECK-NEXT: total 7 8,064 80,513
// CHECK:      smp.linear 2 0 64,512 48,640 128

// DYNAMIC: error: expects static shapes, got 'tensor<?xf32>'
// DYNAMIC: note: run --smp-specialize first
// ABSENT: error: expects a function 'absent' in the module, got none of that name
// FORMAT: error: expects format 'text' or 'json', got 'yaml'

// JSON:      "modules": {
// JSON:      "model.embed": {
// JSON-NEXT: "bytes": 288,
// JSON-NEXT: "flops": 0,
// JSON-NEXT: "ops": 1,
// JSON-NEXT: "parameters": 8000,
// JSON-NEXT: "saved_bytes": 0
// JSON:      "ops": {
// JSON:      "smp.linear": {
// JSON:      "flops": 64512,
// JSON:      "total": {
// JSON:      "parameters": 8064,
