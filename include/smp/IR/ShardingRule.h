//===- ShardingRule.h - How an op may be split ------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As in an einsum, the dims of an op's operands and results are made of
// factors. Whoever has the same part of a factor of all operands that have it,
// and the other operands whole, computes that part of the results:
//
//   linear          ... k, n k -> ... n       k: summands of the whole result
//   softmax         ... W -> ... W            W is needed whole
//   cross_entropy   +m C, +m -> , , +m        summands of a sum, parts of
//   others attention       b (g r) S D, ...          (g r): heads are groups of
//   r
//
// A factor that no result has is summed over, and one with a plus is where a
// result lacks it: each part gives a summand. Other results that lack a factor
// are the same from each of its parts.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_IR_SHARDINGRULE_H
#define SMP_IR_SHARDINGRULE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace smp {

struct ShardingRule {
  struct Factor {
    int64_t size;  ///< or dynamic
    bool isWhole;  ///< each part of a result needs all of it
    bool isSummed; ///< results that lack it are sums over it
  };
  /// Factors by number, the major one first; none for a dim of size 1.
  using Dim = llvm::SmallVector<unsigned, 1>;
  using Shape = llvm::SmallVector<Dim, 4>;

  llvm::SmallVector<Factor, 8> factors;
  llvm::SmallVector<Shape, 4> operands, results; ///< of tensors, in order

  /// Reads the notation above for this op: operands and results by commas, the
  /// factors of a dim in parentheses where it has several, 1 for a dim of size
  /// 1, `...` for the same dims wherever it stands. Names begin with a letter,
  /// a capital one if the factor is needed whole, or with a plus. At most one
  /// factor of a dim may have a size that no other dim tells.
  static ShardingRule parse(mlir::Operation *op, llvm::StringRef text);

  /// Each dim by itself: all are equal places of operands and results
  /// (elementwise), or all are needed whole.
  static ShardingRule ofEqualPlaces(mlir::Operation *op);
  static ShardingRule ofWholes(mlir::Operation *op);
};

namespace detail {
/// That of equal places for elementwise ops, else of wholes.
ShardingRule defaultShardingRule(mlir::Operation *op);
} // namespace detail

} // namespace smp

#endif // SMP_IR_SHARDINGRULE_H
