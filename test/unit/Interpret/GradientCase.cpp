//===- GradientCase.cpp - An op with random shapes for gradient tests -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientCase.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

GradientCase::GradientCase(MLIRContext *context, uint64_t seed)
    : module(ModuleOp::create(UnknownLoc::get(context))), builder(context),
      random(seed) {
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, module->getLoc(), "f",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
}

Shape GradientCase::shape(int64_t minRank, int64_t maxRank) {
  Shape result(pick(minRank, maxRank));
  for (int64_t &dim : result)
    dim = pick(1, 4);
  return result;
}

RankedTensorType GradientCase::floats(const Shape &shape) {
  return RankedTensorType::get(shape, builder.getF32Type());
}

Value GradientCase::fixed(Tensor value) {
  Type elementType = builder.getF32Type();
  if (value.type() == DataType::I64)
    elementType = builder.getI64Type();
  if (value.type() == DataType::Bool)
    elementType = builder.getI1Type();
  Value argument = function.getBody().front().addArgument(
      RankedTensorType::get(value.shape(), elementType), function.getLoc());
  arguments.push_back(std::move(value));
  return argument;
}

Value GradientCase::number(Shape shape, double low, double high) {
  targets.push_back(arguments.size());
  Tensor value = randomTensor(random, std::move(shape), low, high);
  for (double &element : value.mutableFloats())
    element += element < 0 ? -0.05 : 0.05;
  return fixed(std::move(value));
}

Value GradientCase::indices(Shape shape, int64_t below) {
  Tensor value(DataType::I64, std::move(shape));
  for (int64_t &element : value.mutableInts())
    element = pick(0, below - 1);
  return fixed(std::move(value));
}

Value GradientCase::flags(Shape shape) {
  Tensor value(DataType::Bool, std::move(shape));
  for (int64_t &element : value.mutableInts())
    element = pick(0, 1);
  return fixed(std::move(value));
}

void GradientCase::finish(Operation *op) {
  SmallVector<Value> results;
  auto differentiable = cast<DifferentiableOpInterface>(op);
  for (OpResult result : op->getResults())
    if (differentiable.isDifferentiableResult(result.getResultNumber()) &&
        isa<FloatType>(getElementTypeOrSelf(result.getType())))
      results.push_back(result);
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(
      builder.getFunctionType(function.getBody().front().getArgumentTypes(),
                              ValueRange(results).getTypes()));
}
