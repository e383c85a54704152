//===- OptimizerOps.cpp - Inference of optimizer ops -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/OptimizerOps.cpp.inc"

void SmpDialect::registerOptimizerOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/OptimizerOps.cpp.inc"
      >();
}

LogicalResult SumOfSquaresOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location>, Adaptor,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({1}, Float64Type::get(context)));
  return success();
}

LogicalResult ClipFactorOp::verify() {
  const APFloat &norm = getMaxNorm();
  if (!norm.isFinite() || norm.convertToDouble() <= 0) // clip_factor_c1
    return emitOpError() << "expects a finite and positive norm, got "
                         << norm.convertToDouble();
  return success();
}

LogicalResult AdamWOp::verify() {
  for (const APFloat &beta : {getBeta1(), getBeta2()}) // adamw_c1
    if (double value = beta.convertToDouble(); !(value >= 0 && value < 1))
      return emitOpError() << "expects betas in [0, 1), got " << value;
  if (failed(verifyNotNegative(*this, "epsilon", getEpsilon()))) // adamw_c2
    return failure();
  return verifyNotNegative(*this, "weight decay", // adamw_c3
                           getWeightDecay());
}

LogicalResult SgdOp::verify() {
  if (failed(verifyNotNegative(*this, "momentum", getMomentum()))) // sgd_c1
    return failure();
  if (failed(verifyNotNegative(*this, "weight decay", getWeightDecay())))
    return failure(); // sgd_c2
  Value buffer = getMomentumBuffer();
  if (buffer && buffer.getType() != getParameter().getType()) // sgd_c3
    return emitOpError() << "expects a momentum buffer of type "
                         << getParameter().getType() << ", got "
                         << buffer.getType();
  return success();
}
