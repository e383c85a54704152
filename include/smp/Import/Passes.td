//===- Passes.td - Passes that end import and fix shapes -----*- tablegen -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IMPORT_PASSES_TD
#define SMP_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecoverCompositesPass : Pass<"smp-recover-composites", "::mlir::ModuleOp"> {
  let summary = "puts together the composite ops that the export took apart";
  let description = [{
    Recognises composites by the algebra of their pieces, never by names:

    | pieces | composite |
    |---|---|
    | x · rsqrt(mean(x²) + e) · w | `smp.rms_norm` |
    | 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) | `smp.gelu tanh` |
    | x · cos + concat(-x₂, x₁) · sin, where both halves of cos and sin are equal | `smp.rotary_embedding` |
    | softmax(q kᵀ · scale + bias) v, with dropout | `smp.attention` |
    | attention on keys and values repeated by heads | attention with grouped queries |
    | a linear on flattened rows | the same on the rows as they were |

    Example:

    ```mlir
    %s = smp.mul %x, %x : tensor<4x8xf32>
    %t = smp.reduce_sum %s [1] : tensor<4x8xf32> -> tensor<4xf32>
    // ... mean, add, rsqrt, mul
    // becomes
    %y, %rstd = smp.rms_norm %x epsilon 1.0e-6 : tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::smp::SmpDialect", "::mlir::func::FuncDialect"];
}

def SpecializePass : Pass<"smp-specialize", "::mlir::ModuleOp"> {
  let summary = "fixes the batch, infers static shapes, understands masks";
  let description = [{
    Gives dim 0 of every input of symbolic size the rows of a microbatch and
    propagates the shapes. Integer and bool tensors are then evaluated as
    functions of their coordinates: what turns out to be a constant or a
    position becomes one op, and an attention mask that says what `#smp.mask`
    can say (causal, a window, a prefix) becomes that. A mask that depends on
    data stays an operand, and so does a bias that is more than a mask.
    Integers that come from constants through floating numbers are computed.
    Last, ops are brought to canonical form.

    Afterwards only `smp` and `func` ops remain, all of static shape; the
    module's attribute `smp.rows` holds the rows.

    Example:

    ```mlir
    func.func @train(%ids: tensor<?x16xi64>) -> tensor<?x16xi64>
    // with rows=4 becomes
    func.func @train(%ids: tensor<4x16xi64>) -> tensor<4x16xi64>
    ```
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "0",
           "Rows of a microbatch (default: those of the exported example)">,
    Option<"sequence", "sequence", "int64_t", "0",
           "Size of other dims of symbolic size, in elements (default: there must be none)">,
  ];
  let dependentDialects = ["::smp::SmpDialect", "::mlir::func::FuncDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // SMP_IMPORT_PASSES_TD
