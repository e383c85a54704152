//===- LoweredOps.cpp - What lowering makes of model ops --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/LoweredOps.cpp.inc"

void SmpDialect::registerLoweredOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/LoweredOps.cpp.inc"
      >();
}

/// The number of elements; -1 where the type does not say it.
static int64_t elementCount(Value value) {
  RankedTensorType type = tensorType(value);
  return type.hasStaticShape() ? type.getNumElements() : -1;
}

LogicalResult ProductOp::verify() {
  int64_t batch = getBatch(), div = getDivBatch(), sum = getSumBatch();
  if (batch < 1 || div < 1 || sum < 1 || batch % div || batch % sum)
    return emitOpError() // product_c2
           << "expects div_batch and sum_batch that divide the batch, got "
           << div << ", " << sum << " and " << batch;
  int64_t m = getM(), n = getN(), k = getK();
  int64_t expected[] = {batch * m * k, batch / div * k * n,
                        batch / sum * m * n};
  Value values[] = {getLhs(), getRhs(), getResult()};
  for (int i = 0; i < 3; ++i)
    if (elementCount(values[i]) != expected[i])
      return emitOpError() // product_c1
             << "expects " << expected[i] << " elements, got "
             << values[i].getType();
  if (getAccumulator() && getAccumulator().getType() != getType())
    return emitOpError() // product_c3
           << "expects an accumulator of type " << getType() << ", got "
           << getAccumulator().getType();
  return verifyElementTypes(*this, "operands and result", // product_c4
                            {getLhs(), getRhs(), getResult()});
}

static LogicalResult verifyScores(Operation *op, Value scores) {
  if (tensorType(scores).getRank() != 4)
    return op->emitOpError()
           << "expects scores of rank 4, got " << scores.getType();
  return success();
}

LogicalResult AttentionSoftmaxOp::verify() {
  if (failed(verifyScores(*this, getScores()))) // attention_softmax_c1
    return failure();
  ArrayRef<int64_t> scores = tensorType(getScores()).getShape();
  if (failed(verifyShape(*this, "lse", getLse(), scores.drop_back())))
    return failure();                               // attention_softmax_c2
  if (failed(verifyBias(*this, getBias(), scores))) // attention_softmax_c3
    return failure();
  if (failed(verifyProbability(*this, getDropout()))) // attention_softmax_c4
    return failure();
  return verifyFinite(*this, "scale", getScale()); // attention_softmax_c5
}

LogicalResult AttentionSoftmaxGradOp::verify() {
  if (failed(verifyScores(*this, getScores()))) // attention_softmax_grad_c1
    return failure();
  ArrayRef<int64_t> scores = tensorType(getScores()).getShape();
  if (failed(verifyShape(*this, "lse", getLse(), scores.drop_back())))
    return failure();                               // attention_softmax_grad_c2
  if (failed(verifyBias(*this, getBias(), scores))) // attention_softmax_grad_c3
    return failure();
  if (failed(verifyProbability(*this, getDropout())))
    return failure(); // attention_softmax_grad_c4
  if (failed(verifyFinite(*this, "scale", getScale())))
    return failure(); // attention_softmax_grad_c5
  RankedTensorType output = tensorType(getOutput());
  if (output.getRank() != 4 ||
      !compatibleShapes(output.getShape().drop_back(), scores.drop_back()))
    return emitOpError() // attention_softmax_grad_c6
           << "expects an output that differs from the scores only in the last "
              "dim, got "
           << output << " beside " << getScores().getType();
  return success();
}

LogicalResult CrossEntropyRowsOp::verify() {
  RankedTensorType logits = tensorType(getLogits());
  if (logits.getRank() != 2) // cross_entropy_rows_c1
    return emitOpError() << "expects logits [rows, classes], got " << logits;
  ArrayRef<int64_t> rows = logits.getShape().take_front();
  if (failed(verifyShape(*this, "labels", getLabels(), rows)))
    return failure(); // cross_entropy_rows_c2
  return verifyShape(*this, "results", getLosses(),
                     rows); // cross_entropy_rows_c3
}

LogicalResult ClusterOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getOperandTypes())
    return emitOpError() // cluster_c1
           << "expects a body argument for each operand";
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError() // cluster_c2
           << "expects the body to yield a value for each result";
  if (getInPlace().size() != getNumResults())
    return emitOpError() // cluster_c3
           << "expects " << getNumResults() << " entries of in_place, got "
           << getInPlace().size();
  llvm::SmallSet<int64_t, 4> taken;
  for (auto [result, operand] : llvm::zip(getResults(), getInPlace())) {
    if (operand == -1)
      continue;
    if (operand < 0 || operand >= static_cast<int64_t>(getNumOperands()) ||
        getOperand(operand).getType() != result.getType() ||
        !taken.insert(operand).second)
      return emitOpError() // cluster_c3
             << "expects in_place to name an operand of type "
             << result.getType() << " once, got " << operand;
  }
  return success();
}
