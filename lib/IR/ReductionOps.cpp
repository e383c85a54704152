//===- ReductionOps.cpp - Inference and checks of reductions -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/ReductionOps.cpp.inc"

void SmpDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ReductionOps.cpp.inc"
      >();
}

/// Of an op on an operand; `alone` are dims that the result lacks, or whose
/// places depend on each other.
static ShardingRule ruleOf(Operation *op, ArrayRef<int64_t> alone,
                           StringRef name, bool keeps) {
  std::string operand, result;
  for (int64_t dim = 0; dim < tensorType(op->getOperand(0)).getRank(); ++dim) {
    bool isAlone = llvm::is_contained(alone, dim);
    std::string factor = " " + ((isAlone ? name : "d") + Twine(dim)).str();
    operand += factor;
    if (!isAlone || keeps)
      result += factor;
  }
  return ShardingRule::parse(op, operand + "->" + result);
}

/// The operand's type without `dims`.
static LogicalResult inferReduction(std::optional<Location> loc, Value operand,
                                    ArrayRef<int64_t> dims,
                                    SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorType(operand);
  for (auto [index, dim] : llvm::enumerate(dims)) {
    bool ascending = index == 0 || dim > dims[index - 1];
    if (dim < 0 || dim >= type.getRank() || !ascending)
      return emitOptionalError(loc, "expects ascending dims in [0, ",
                               type.getRank(), "), got ", dim);
  }
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  types.push_back(withShape(type, shape));
  return success();
}

LogicalResult ReduceSumOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferReduction(loc, adaptor.getOperand(), adaptor.getDims(),
                        types); // reduce_sum_c1
}

ShardingRule ReduceSumOp::getShardingRule() {
  return ruleOf(*this, getDims(), "s", /*keeps=*/false);
}

LogicalResult ReduceMaxOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferReduction(loc, adaptor.getOperand(), adaptor.getDims(),
                        types); // reduce_max_c1
}

LogicalResult ReduceMaxOp::verify() {
  for (int64_t dim : getDims()) // reduce_max_c2
    if (tensorType(getOperand()).getDimSize(dim) == 0)
      return emitOpError() << "expects a maximum over at least one element, "
                           << "got none along dim " << dim;
  return success();
}

ShardingRule ReduceMaxOp::getShardingRule() {
  return ruleOf(*this, getDims(), "M", /*keeps=*/false);
}

LogicalResult CumsumOp::verify() {
  return verifyDim(*this, getDim(), getType().getRank()); // cumsum_c1
}

ShardingRule CumsumOp::getShardingRule() {
  return ruleOf(*this, {int64_t(getDim())}, "C", /*keeps=*/true);
}
