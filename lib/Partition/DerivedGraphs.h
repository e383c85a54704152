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

/// Name of the model input that holds the weight of each row, and its role.
inline constexpr llvm::StringLiteral kRowWeight = "row_weight";
/// Role of a result that adds to a number kept over a pass of evaluation.
inline constexpr llvm::StringLiteral kMetricRole = "metric";

/// Attribute of an op whose results cross chunks: the number of each (-1 for
/// those that stay). Derived graphs inherit it, so that a value has one name.
inline constexpr llvm::StringLiteral kActivationsAttr = "smp.activations";

/// Copies `train` and makes it the graph of evaluation: random ops do nothing;
/// rows whose weight is 0 count in no mean-type loss; the results are the sum
/// (`eval_sum/<term>`) and the count (`eval_count/<term>`) of each loss term,
/// f64, of role `metric`. Fails where a loss cannot leave out rows.
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
