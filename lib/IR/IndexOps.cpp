//===- IndexOps.cpp - Inference and checks of index ops -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/IndexOps.cpp.inc"

void SmpDialect::registerIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/IndexOps.cpp.inc"
      >();
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType table = tensorType(adaptor.getTable());
  if (table.getRank() != 2) // embedding_c1
    return emitOptionalError(loc, "expects a table of rank 2, got ", table);
  SmallVector<int64_t> shape(tensorType(adaptor.getIndices()).getShape());
  shape.push_back(table.getDimSize(1));
  types.push_back(withShape(table, shape));
  return success();
}

ShardingRule EmbeddingOp::getShardingRule() {
  return ShardingRule::parse(*this, "V c, ... -> ... c");
}

LogicalResult EmbeddingGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType cotangent = tensorType(adaptor.getCotangent());
  ArrayRef<int64_t> places = tensorType(adaptor.getIndices()).getShape();
  if (cotangent.getRank() < 1 || // embedding_grad_c1
      !compatibleShapes(cotangent.getShape().drop_back(), places))
    return emitOptionalError(loc, "expects a cotangent for indices of shape ",
                             shapeString(places), ", got ", cotangent);
  if (int64_t(adaptor.getRows()) < 1) // embedding_grad_c2
    return emitOptionalError(loc, "expects a positive number of rows, got ",
                             int64_t(adaptor.getRows()));
  types.push_back(withShape(
      cotangent, {int64_t(adaptor.getRows()), cotangent.getShape().back()}));
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(withShape(tensorType(adaptor.getOperand()),
                            tensorType(adaptor.getIndices()).getShape()));
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType operand = tensorType(getOperand());
  RankedTensorType indices = tensorType(getIndices());
  if (failed(verifyDim(*this, getDim(), operand.getRank()))) // gather_c1
    return failure();
  SmallVector<int64_t> expected(operand.getShape());
  if (indices.getRank() == operand.getRank())
    expected[getDim()] = indices.getDimSize(getDim());
  return verifyShape(*this, "indices", getIndices(), expected); // gather_c2
}

ShardingRule GatherOp::getShardingRule() {
  std::string operand, indices;
  for (int64_t dim = 0; dim < getOperand().getType().getRank(); ++dim) {
    bool isOwn = dim == int64_t(getDim());
    operand += (isOwn ? " V" : " d") + std::to_string(dim);
    indices += (isOwn ? " i" : " d") + std::to_string(dim);
  }
  return ShardingRule::parse(*this, operand + "," + indices + "->" + indices);
}

LogicalResult GatherGradOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType cotangent = tensorType(adaptor.getCotangent());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= cotangent.getRank()) // gather_grad_c1
    return emitOptionalError(loc, "expects dim in [0, ", cotangent.getRank(),
                             "), got ", dim);
  if (int64_t(adaptor.getExtent()) < 1) // gather_grad_c3
    return emitOptionalError(loc, "expects a positive extent, got ",
                             int64_t(adaptor.getExtent()));
  SmallVector<int64_t> shape(cotangent.getShape());
  shape[dim] = adaptor.getExtent();
  types.push_back(withShape(cotangent, shape));
  return success();
}

LogicalResult GatherGradOp::verify() {
  return verifyShape(*this, "indices", getIndices(), // gather_grad_c2
                     tensorType(getCotangent()).getShape());
}

LogicalResult IndexOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  int64_t count = adaptor.getIndices().size();
  if (count < 1 || count > operand.getRank()) // index_c1
    return emitOptionalError(loc, "expects 1 to ", operand.getRank(),
                             " index tensors, got ", count);
  SmallVector<int64_t> shape(
      tensorType(adaptor.getIndices().front()).getShape());
  llvm::append_range(shape, operand.getShape().drop_front(count));
  types.push_back(withShape(operand, shape));
  return success();
}

LogicalResult IndexOp::verify() {
  Value first = getIndices().front();
  for (Value index : getIndices().drop_front()) // index_c2
    if (failed(verifyShape(*this, "index tensors", index,
                           tensorType(first).getShape())))
      return failure();
  return success();
}

ShardingRule IndexOp::getShardingRule() {
  // As many first dims as there are index tensors are looked up.
  std::string first, rest, places;
  for (int64_t dim = 0; dim < tensorType(getOperand()).getRank(); ++dim) {
    bool isIndexed = dim < int64_t(getIndices().size());
    (isIndexed ? first : rest) +=
        (isIndexed ? " V" : " d") + std::to_string(dim);
  }
  for (size_t i = 0; i < getIndices().size(); ++i)
    places += ", ...";
  return ShardingRule::parse(*this, first + rest + places + "-> ..." + rest);
}
