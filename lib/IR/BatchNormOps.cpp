//===- BatchNormOps.cpp - Inference and checks of batch norms -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/BatchNormOps.cpp.inc"

void SmpDialect::registerBatchNormOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/BatchNormOps.cpp.inc"
      >();
}

/// A vector with an element for each channel; a scalar of an operand that has
/// none, which the verifier refuses.
static RankedTensorType channelsOf(Value operand) {
  RankedTensorType type = tensorType(operand);
  if (type.getRank() < 2)
    return withShape(type, {});
  return withShape(type, {type.getDimSize(1)});
}

static LogicalResult verifyHasChannels(Operation *op, Value operand) {
  int64_t rank = tensorType(operand).getRank();
  if (rank < 2)
    return op->emitOpError("expects an operand of rank 2 or more, got rank ")
           << rank;
  return success();
}

/// Checks those of the vectors that are there.
static LogicalResult
verifyChannels(Operation *op, Value operand,
               std::initializer_list<std::pair<StringRef, Value>> vectors) {
  for (auto [what, vector] : vectors)
    if (vector &&
        failed(verifyShape(op, what, vector, channelsOf(operand).getShape())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// BatchNormOp
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType channels = channelsOf(adaptor.getOperand());
  Type running = adaptor.getRunningMean().getType();
  types.assign(
      {adaptor.getOperand().getType(), channels, channels, running, running});
  return success();
}

LogicalResult BatchNormOp::verify() {
  if (failed(verifyHasChannels(*this, getOperand()))) // batch_norm_c1
    return failure();
  if (failed(verifyChannels(*this, getOperand(), // batch_norm_c2
                            {{"weight", getWeight()},
                             {"bias", getBias()},
                             {"running averages", getRunningMean()}})))
    return failure();
  RankedTensorType type = tensorType(getOperand());
  if (type.hasStaticShape() && type.getDimSize(1) > 0 &&
      type.getNumElements() == type.getDimSize(1)) // batch_norm_c3
    return emitOpError("expects more than one element of each channel in a "
                       "microbatch, got one");
  return success();
}

ShardingRule BatchNormOp::getShardingRule() {
  std::string places;
  for (int64_t dim = 2; dim < getOperand().getType().getRank(); ++dim)
    places += " P" + std::to_string(dim);
  std::string channels = getWeight() && getBias()   ? ", c, c"
                         : getWeight() || getBias() ? ", c"
                                                    : "";
  return ShardingRule::parse(*this, "N c" + places + channels +
                                        ", c, c -> N c" + places +
                                        ", c, c, c, c");
}

//===----------------------------------------------------------------------===//
// BatchNormGradOp
//===----------------------------------------------------------------------===//

LogicalResult BatchNormGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType channels = channelsOf(adaptor.getOperand());
  types.assign({adaptor.getOperand().getType(), channels, channels});
  return success();
}

LogicalResult BatchNormGradOp::verify() {
  if (failed(verifyHasChannels(*this, getOperand()))) // batch_norm_grad_c1
    return failure();
  return verifyChannels( // batch_norm_grad_c2
      *this, getOperand(),
      {{"weight", getWeight()}, {"mean and rstd", getMean()}});
}

//===----------------------------------------------------------------------===//
// BatchNormInferenceOp
//===----------------------------------------------------------------------===//

LogicalResult
BatchNormInferenceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getOperand().getType());
  return success();
}

LogicalResult BatchNormInferenceOp::verify() {
  if (failed(verifyHasChannels(*this, getOperand())))
    return failure();    // batch_norm_inference_c1
  return verifyChannels( // batch_norm_inference_c2
      *this, getOperand(),
      {{"weight", getWeight()},
       {"bias", getBias()},
       {"running averages", getRunningMean()}});
}

ShardingRule BatchNormInferenceOp::getShardingRule() {
  std::string channels = getWeight() && getBias()   ? ", c, c"
                         : getWeight() || getBias() ? ", c"
                                                    : "";
  return ShardingRule::parse(*this, "n c ..." + channels + ", c, c -> n c ...");
}
