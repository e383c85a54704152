//===- FoldCoordinates.cpp - Constants and positions ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoordinateRules.h"
#include "SpecializeSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// One op that gives these elements, or null.
static Operation *materialize(OpBuilder &builder, Operation *op,
                              const Elements &elements) {
  Value result = op->getResult(0);
  std::optional<int64_t> number;
  if (elements.isInteger())
    number = elements.integer.asConstant();
  else if (std::optional<bool> truth = elements.asBoolean())
    number = *truth;
  if (number)
    return FillOp::create(builder, op->getLoc(), result.getType(),
                          builder.getF64FloatAttr(double(*number)),
                          ValueRange());
  if (!elements.isInteger())
    return nullptr;
  if (std::optional<size_t> dim = elements.integer.asCoordinate())
    return IotaOp::create(builder, op->getLoc(), result.getType(),
                          builder.getI64IntegerAttr(*dim), ValueRange());
  return nullptr;
}

void smp::foldCoordinates(func::FuncOp function) {
  Block &body = function.getBody().front();
  CoordinateEvaluator evaluator(body);
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (op.getNumResults() != 1 || isa<FillOp, IotaOp>(op))
      continue;
    const Elements &elements = evaluator.of(op.getResult(0));
    OpBuilder builder(&op);
    if (Operation *folded = materialize(builder, &op, elements)) {
      copyScope(&op, folded);
      op.replaceAllUsesWith(folded);
    }
  }
}
