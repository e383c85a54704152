//===- LossOps.cpp - Inference and checks of losses -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/LossOps.cpp.inc"

void SmpDialect::registerLossOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/LossOps.cpp.inc"
      >();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType logits = tensorType(adaptor.getLogits());
  if (logits.getRank() != 2) // cross_entropy_c1
    return emitOptionalError(loc, "expects logits [rows, classes], got ",
                             logits);
  types.assign({withShape(logits, {}),
                RankedTensorType::get({}, IntegerType::get(context, 64)),
                withShape(logits, logits.getShape().take_front())});
  return success();
}

LogicalResult CrossEntropyOp::verify() {
  return verifyShape(*this, "labels", getLabels(), // cross_entropy_c2
                     tensorType(getLogits()).getShape().take_front());
}

ShardingRule CrossEntropyOp::getShardingRule() {
  return ShardingRule::parse(*this, "+m C, +m -> , , +m");
}

LogicalResult CrossEntropyGradOp::verify() {
  RankedTensorType logits = tensorType(getLogits());
  if (logits.getRank() != 2) // cross_entropy_grad_c1
    return emitOpError() << "expects logits [rows, classes], got " << logits;
  if (failed(verifyShape(*this, "labels", getLabels(),
                         logits.getShape().take_front())))
    return failure(); // cross_entropy_grad_c2
  if (failed(
          verifyShape(*this, "lse", getLse(), logits.getShape().take_front())))
    return failure(); // cross_entropy_grad_c3
  return verifyShape(*this, "cotangent", getCotangent(),
                     {}); // cross_entropy_grad_c4
}

LogicalResult MeanLossOp::verify() {
  if (failed(verifyShape(*this, "sum", getSum(), {}))) // mean_loss_c1
    return failure();
  if (getTerm().empty()) // mean_loss_c2
    return emitOpError("expects a name of the loss term, got an empty one");
  return success();
}

ShardingRule LabelCountOp::getShardingRule() {
  return ShardingRule::parse(*this, "... ->");
}
