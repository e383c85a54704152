//===- ProductOps.cpp - Inference and checks of products -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/ProductOps.cpp.inc"

void SmpDialect::registerProductOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ProductOps.cpp.inc"
      >();
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  RankedTensorType weight = tensorType(adaptor.getWeight());
  if (input.getRank() < 1 || weight.getRank() != 2) // linear_c1
    return emitOptionalError(loc,
                             "expects an input of rank 1 or more and a weight "
                             "of rank 2, got ",
                             input, " and ", weight);
  int64_t k = weight.getDimSize(adaptor.getTransposed() ? 0 : 1);
  int64_t n = weight.getDimSize(adaptor.getTransposed() ? 1 : 0);
  if (!compatibleSizes(input.getShape().back(), k)) // linear_c2
    return emitOptionalError(loc, "expects a weight for ",
                             input.getShape().back(), " input features, got ",
                             k);
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = n;
  types.push_back(withShape(input, shape));
  return success();
}

LogicalResult LinearOp::verify() {
  return verifyElementTypes(*this, "input and weight", // linear_c3
                            {getInput(), getWeight()});
}

ShardingRule LinearOp::getShardingRule() {
  return ShardingRule::parse(*this, getTransposed() ? "... k, k n -> ... n"
                                                    : "... k, n k -> ... n");
}

LogicalResult
LinearWeightGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  RankedTensorType cotangent = tensorType(adaptor.getCotangent());
  RankedTensorType input = tensorType(adaptor.getInput());
  if (cotangent.getRank() < 1 || input.getRank() < 1 ||
      !compatibleShapes(cotangent.getShape().drop_back(),
                        input.getShape().drop_back()))
    return emitOptionalError(loc, // linear_weight_grad_c1
                             "expects cotangent and input that differ only in "
                             "the last dim, got ",
                             cotangent, " and ", input);
  int64_t n = cotangent.getShape().back(), k = input.getShape().back();
  SmallVector<int64_t> shape = {n, k};
  if (adaptor.getTransposed())
    shape = {k, n};
  types.push_back(withShape(input, shape));
  return success();
}

LogicalResult LinearWeightGradOp::verify() {
  return verifyElementTypes(*this,
                            "cotangent and input", // linear_weight_grad_c2
                            {getCotangent(), getInput()});
}

ShardingRule LinearWeightGradOp::getShardingRule() {
  return ShardingRule::parse(*this, getTransposed() ? "... n, ... k -> k n"
                                                    : "... n, ... k -> n k");
}

LogicalResult BatchMatmulOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tensorType(adaptor.getLhs());
  RankedTensorType rhs = tensorType(adaptor.getRhs());
  int64_t rank = lhs.getRank();
  if (rank < 2 || rhs.getRank() != rank || // batch_matmul_c1
      !compatibleShapes(lhs.getShape().drop_back(2),
                        rhs.getShape().drop_back(2)))
    return emitOptionalError(loc,
                             "expects operands of rank 2 or more with equal "
                             "leading dims, got ",
                             lhs, " and ", rhs);
  bool lhsT = adaptor.getTransposeLhs(), rhsT = adaptor.getTransposeRhs();
  int64_t m = lhs.getDimSize(lhsT ? rank - 1 : rank - 2);
  int64_t lhsK = lhs.getDimSize(lhsT ? rank - 2 : rank - 1);
  int64_t rhsK = rhs.getDimSize(rhsT ? rank - 1 : rank - 2);
  int64_t n = rhs.getDimSize(rhsT ? rank - 2 : rank - 1);
  if (!compatibleSizes(lhsK, rhsK)) // batch_matmul_c2
    return emitOptionalError(loc, "expects equal inner sizes, got ", lhsK,
                             " and ", rhsK);
  SmallVector<int64_t> shape(lhs.getShape());
  shape[rank - 2] = m;
  shape[rank - 1] = n;
  types.push_back(withShape(lhs, shape));
  return success();
}

LogicalResult BatchMatmulOp::verify() {
  return verifyElementTypes(*this, "operands", // batch_matmul_c3
                            {getLhs(), getRhs()});
}

ShardingRule BatchMatmulOp::getShardingRule() {
  std::string lhs = getTransposeLhs() ? "... k m" : "... m k";
  std::string rhs = getTransposeRhs() ? "... n k" : "... k n";
  return ShardingRule::parse(*this, lhs + "," + rhs + "-> ... m n");
}
