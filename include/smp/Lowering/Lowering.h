//===- Lowering.h - Programs to products, kernels and collectives -*- C++ -*-=//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first half of the phase `lower`, on the programs of chunks and ranks.
// After it a program consists of
//
//   smp.product                                 library commands
//   smp.cluster                                 kernels
//   smp.all_reduce, smp.broadcast               collectives
//   smp.reshape, smp.constant                   memory under another shape;
//   known
//                                               memory
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LOWERING_LOWERING_H
#define SMP_LOWERING_LOWERING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

/// Takes composites apart: attention into products and rows of scores, linear
/// ops into products, gradients of norm weights into sums over rows; lets
/// products of gradients start from the accumulator.
///
/// ```mlir
/// %g = smp.linear_weight_grad %c, %x : tensor<8x4xf32>, tensor<8x3xf32>
/// %r = smp.add %acc, %g : tensor<4x3xf32>     // %acc is a gradient argument
/// ```
/// becomes
/// ```mlir
/// %r = smp.product %c, %x into %acc : tensor<4x3xf32> transposed true, false
/// ...
/// ```
void decompose(mlir::func::FuncOp program);

/// Groups elementwise ops over one iteration space into clusters and gives
/// every op with loops of its own a cluster; orders the program accordingly. An
/// op without code stays as it is.
///
/// ```mlir
/// %b = smp.expand %bias [1] : tensor<4xf32> -> tensor<8x4xf32>
/// %s = smp.add %x, %b : tensor<8x4xf32>
/// %r = smp.gelu %s : tensor<8x4xf32>
/// ```
/// becomes
/// ```mlir
/// %r = smp.cluster(%x, %bias) in_place [-1] { ... expand, add, gelu ... }
/// ```
///
/// Without `fuse` every op has a kernel of its own, to show that fusion changes
/// no bit.
void formClusters(mlir::func::FuncOp program, bool fuse = true);

} // namespace smp

#endif // SMP_LOWERING_LOWERING_H
