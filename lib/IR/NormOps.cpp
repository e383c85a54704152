//===- NormOps.cpp - Inference and checks of normalisations -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/NormOps.cpp.inc"

void SmpDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/NormOps.cpp.inc"
      >();
}

/// Checks an operand of rank 1 or more, and a scale of the size of its last
/// dim.
static LogicalResult verifyLastDim(Operation *op, StringRef what, Value operand,
                                   Value vector) {
  if (!vector)
    return success();
  return verifyShape(op, what, vector, tensorType(operand).getShape().back());
}

static LogicalResult verifyHasDim(Operation *op, Value operand) {
  if (tensorType(operand).getRank() == 0)
    return op->emitOpError(
        "expects an operand of rank 1 or more, got a scalar");
  return success();
}

/// The operand's type without its last dim.
static RankedTensorType rowsOf(Value operand) {
  RankedTensorType type = tensorType(operand);
  return withShape(type, type.getShape().empty() ? type.getShape()
                                                 : type.getShape().drop_back());
}

/// A vector as long as the operand's last dim.
static RankedTensorType vectorOf(Value operand) {
  RankedTensorType type = tensorType(operand);
  return withShape(type, type.getShape().take_back());
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType rows = rowsOf(adaptor.getOperand());
  types.assign({adaptor.getOperand().getType(), rows, rows});
  return success();
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyHasDim(*this, getOperand()))) // layer_norm_c1
    return failure();
  if (failed(verifyLastDim(*this, "weight", getOperand(), getWeight())))
    return failure(); // layer_norm_c2
  if (failed(verifyLastDim(*this, "bias", getOperand(), getBias())))
    return failure();                                       // layer_norm_c3
  return verifyNotNegative(*this, "epsilon", getEpsilon()); // layer_norm_c4
}

ShardingRule LayerNormOp::getShardingRule() {
  std::string vectors;
  for (Value vector : {getWeight(), getBias()})
    vectors += vector ? ", W" : "";
  return ShardingRule::parse(*this, "... W" + vectors + "-> ... W, ..., ...");
}

LogicalResult LayerNormGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType vector = vectorOf(adaptor.getOperand());
  types.assign({adaptor.getOperand().getType(), vector, vector});
  return success();
}

LogicalResult LayerNormGradOp::verify() {
  if (failed(verifyHasDim(*this, getOperand()))) // layer_norm_grad_c1
    return failure();
  if (failed(verifyLastDim(*this, "weight", getOperand(), getWeight())))
    return failure();                                   // layer_norm_grad_c2
  return verifyShape(*this, "mean and rstd", getMean(), // layer_norm_grad_c3
                     rowsOf(getOperand()).getShape());
}

//===----------------------------------------------------------------------===//
// RmsNormOp
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.assign({adaptor.getOperand().getType(), rowsOf(adaptor.getOperand())});
  return success();
}

LogicalResult RmsNormOp::verify() {
  if (failed(verifyHasDim(*this, getOperand()))) // rms_norm_c1
    return failure();
  if (failed(verifyLastDim(*this, "weight", getOperand(), getWeight())))
    return failure();                                       // rms_norm_c2
  return verifyNotNegative(*this, "epsilon", getEpsilon()); // rms_norm_c3
}

ShardingRule RmsNormOp::getShardingRule() {
  return ShardingRule::parse(*this, getWeight() ? "... W, W -> ... W, ..."
                                                : "... W -> ... W, ...");
}

LogicalResult RmsNormGradOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.assign(
      {adaptor.getOperand().getType(), vectorOf(adaptor.getOperand())});
  return success();
}

LogicalResult RmsNormGradOp::verify() {
  if (failed(verifyHasDim(*this, getOperand()))) // rms_norm_grad_c1
    return failure();
  if (failed(verifyLastDim(*this, "weight", getOperand(), getWeight())))
    return failure();                          // rms_norm_grad_c2
  return verifyShape(*this, "rstd", getRstd(), // rms_norm_grad_c3
                     rowsOf(getOperand()).getShape());
}

//===----------------------------------------------------------------------===//
// SoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  return verifyHasDim(*this, getOperand()); // softmax_c1
}

ShardingRule SoftmaxOp::getShardingRule() {
  return ShardingRule::parse(*this, "... W -> ... W");
}

LogicalResult SoftmaxGradOp::verify() {
  return verifyHasDim(*this, getOutput()); // softmax_grad_c1
}
