//===- DerivedGraphs.h - The graphs of evaluation and prediction -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_PARTITION_DERIVEDGRAPHS_H
#define SMP_LIB_PARTITION_DERIVEDGRAPHS_H

#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace smp {

/// Role of a result that adds to a number kept over a pass of evaluation.
inline constexpr llvm::StringLiteral kMetricRole = "metric";

/// Attribute of an op whose results cross chunks: the number of each (-1 for
/// those that stay). Derived graphs inherit it, so that a value has one name.
inline constexpr llvm::StringLiteral kActivationsAttr = "smp.activations";

/// Copies `train` and makes it the graph of evaluation: random ops do nothing;
/// rows whose weight is 0 count in no term of the loss, where those are sums
/// over rows; the results are, of each term, the sum
/// (`eval_sum/<term>`) times its weight in the loss, and what it is divided by
/// (`eval_count/<term>`) unless it is a sum itself, f64, of role `metric`.
/// There are none where samples reach the loss in another way.
llvm::FailureOr<mlir::func::FuncOp> deriveEvaluate(mlir::func::FuncOp train,
                                                   int64_t rows);

/// Copies `train` and makes it the graph of prediction: random ops do nothing,
/// and the results are those of role `output`.
mlir::func::FuncOp derivePredict(mlir::func::FuncOp train);

/// Copies `train` and makes it return the count of each loss term, named after
/// the term, of role `count`. Fails where a count depends on more than the
/// data.
llvm::FailureOr<mlir::func::FuncOp> deriveCount(mlir::func::FuncOp train);

} // namespace smp

#endif // SMP_LIB_PARTITION_DERIVEDGRAPHS_H
