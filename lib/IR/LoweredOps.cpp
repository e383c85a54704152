//===- LoweredOps.cpp - What lowering makes of model ops --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/IR/SmpDialect.h"

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

static int64_t elementCount(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
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
  return success();
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
