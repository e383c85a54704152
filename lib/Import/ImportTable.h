//===- ImportTable.h - Which ATen operator becomes which op -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that dispatches on operator names. Each family of operators
// has a file that defines its rules and lists them; `findRule` looks them up.
//
//===----------------------------------------------------------------------===//

#ifndef SMP_LIB_IMPORT_IMPORTTABLE_H
#define SMP_LIB_IMPORT_IMPORTTABLE_H

#include "NodeImporter.h"

namespace smp {

struct ImportRule {
  /// "aten.add.Tensor".
  llvm::StringLiteral target;
  llvm::LogicalResult (*import)(NodeImporter &);
  /// Names of the tensors and lists of tensors that must be there, separated
  /// by spaces.
  llvm::StringLiteral needs;
};

llvm::ArrayRef<ImportRule> arithmeticRules();
llvm::ArrayRef<ImportRule> logicRules();
llvm::ArrayRef<ImportRule> constantRules();
llvm::ArrayRef<ImportRule> shapeRules();
llvm::ArrayRef<ImportRule> cutRules();
llvm::ArrayRef<ImportRule> moveRules();
llvm::ArrayRef<ImportRule> scatterRules();
llvm::ArrayRef<ImportRule> productRules();
llvm::ArrayRef<ImportRule> einsumRules();
llvm::ArrayRef<ImportRule> activationRules();
llvm::ArrayRef<ImportRule> reductionRules();
llvm::ArrayRef<ImportRule> indexRules();
llvm::ArrayRef<ImportRule> networkRules();
llvm::ArrayRef<ImportRule> convolutionRules();
llvm::ArrayRef<ImportRule> lossRules();
llvm::ArrayRef<ImportRule> classLossRules();

/// Null for an operator that smp has not.
const ImportRule *findRule(llvm::StringRef target);

/// Whether the operator computes no tensor that the graph needs: checks of
/// shapes, and sizes, which are expressions already.
bool isIgnored(const pt2::Node &node);

//===----------------------------------------------------------------------===//
// What several families share
//===----------------------------------------------------------------------===//

/// The result type of arithmetic on these arguments, as PyTorch promotes them.
mlir::Type promotedType(NodeImporter &n, llvm::ArrayRef<llvm::StringRef> names);

/// A tensor or number as a tensor of the given type and shape.
Tensor operandAs(NodeImporter &n, llvm::StringRef name, mlir::Type element,
                 const Shape &shape);
/// x, but at least `bound`, or at most. As in PyTorch the bound has the
/// gradient where x meets it; `maximum` would share it.
Tensor atLeast(NodeImporter &n, const Tensor &x, const Tensor &bound);
Tensor atMost(NodeImporter &n, const Tensor &x, const Tensor &bound);

/// Conversion as PyTorch does it: to bool is a comparison with zero.
Tensor convert(NodeImporter &n, const Tensor &operand, mlir::Type element);

/// [M, K] · [K, N].
Tensor matrixProduct(NodeImporter &n, const Tensor &lhs, const Tensor &rhs);
/// [..., M, K] · [..., K, N], of equal leading dims.
Tensor batchMatmul(NodeImporter &n, const Tensor &lhs, const Tensor &rhs);

/// x - max - log Σ exp(x - max), over a dim.
Tensor logSoftmax(NodeImporter &n, const Tensor &operand, int64_t dim);

/// Gives the mean over all elements as a term of the loss.
Tensor meanLoss(NodeImporter &n, const Tensor &operand);
/// Divides a sum by a count, as the next term of the loss.
Tensor meanLoss(NodeImporter &n, const Tensor &sum, mlir::Value count);

/// PyTorch's numbers for what becomes of the losses of all rows.
enum class Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };
/// That of the operator, the mean by default.
Reduction reductionOf(NodeImporter &n);
/// Gives the losses of all elements, reduced as the operator says.
llvm::LogicalResult giveReduced(NodeImporter &n, const Tensor &losses);

Tensor sumOfAll(NodeImporter &n, const Tensor &operand);
Tensor times(NodeImporter &n, const Tensor &operand, double factor);

} // namespace smp

#endif // SMP_LIB_IMPORT_IMPORTTABLE_H
