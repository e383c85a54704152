//===- FoldConstants.cpp - Integers that come from floating constants -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model may compute integers from constants through floating numbers, as T5
// its buckets of distances through a logarithm. Such an integer must not depend
// on how a kernel rounds, so it is computed here, in the written types, by the
// interpreter's semantics:
//
//   %d = smp.sub %k, %q                     // iotas
//   %l = smp.log (smp.cast %d)
//   %b = smp.cast %l : f32 -> i64           // becomes smp.constant
//
// Integers made of integers alone stay arithmetic: they are exact anywhere, and
// need no memory.
//
//===----------------------------------------------------------------------===//

#include "SpecializeSteps.h"
#include "smp/Interpret/Interpretable.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

/// What is known of an op whose results depend on no data.
struct Source {
  bool isConstant = false;
  /// Whether floating numbers are among what it is computed from.
  bool fromFloats = false;
};

class ConstantFolder {
public:
  LogicalResult fold(func::FuncOp function);

private:
  /// Beyond this a constant would be larger than what it saves.
  static constexpr int64_t kMaxElements = int64_t(1) << 24;

  Source classify(Operation *op) const;
  bool isWanted(Operation *op) const;
  const interpret::Tensor *evaluate(Value value);
  LogicalResult replace(Operation *op);

  llvm::DenseMap<Operation *, Source> sources;
  llvm::DenseMap<Value, interpret::Tensor> values;
};

} // namespace

static bool isFloating(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// What a parameter, a state or random numbers are in is no constant.
Source ConstantFolder::classify(Operation *op) const {
  if (!isPure(op) || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      isa<GetParameterOp, GetStateOp>(op) || op->hasAttr("site") ||
      !isa<interpret::InterpretableOpInterface>(op) ||
      cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() >
          kMaxElements)
    return {};
  Source result{true, false};
  for (Value operand : op->getOperands()) {
    Source source = sources.lookup(operand.getDefiningOp());
    if (!source.isConstant)
      return {};
    result.fromFloats |= source.fromFloats || isFloating(operand.getType());
  }
  return result;
}

/// Integers from floats that something else than another constant uses.
bool ConstantFolder::isWanted(Operation *op) const {
  Source source = sources.lookup(op);
  return source.isConstant && source.fromFloats &&
         !isFloating(op->getResult(0).getType()) &&
         llvm::any_of(op->getUsers(), [&](Operation *user) {
           return !sources.lookup(user).isConstant ||
                  isFloating(user->getResult(0).getType());
         });
}

/// Null where an op has no meaning, as its diagnostic says.
const interpret::Tensor *ConstantFolder::evaluate(Value value) {
  if (auto found = values.find(value); found != values.end())
    return &found->second;
  Operation *op = value.getDefiningOp();
  SmallVector<interpret::Tensor> operands, results;
  for (Value operand : op->getOperands()) {
    const interpret::Tensor *tensor = evaluate(operand);
    if (!tensor)
      return nullptr;
    operands.push_back(*tensor);
  }
  interpret::Context context;
  if (failed(cast<interpret::InterpretableOpInterface>(op).interpret(
          operands, results, context)))
    return nullptr;
  results.front().roundToType();
  return &values.try_emplace(value, results.front()).first->second;
}

LogicalResult ConstantFolder::replace(Operation *op) {
  const interpret::Tensor *tensor = evaluate(op->getResult(0));
  if (!tensor)
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<APInt> elements;
  for (int64_t element : tensor->ints())
    elements.emplace_back(width, uint64_t(element), /*isSigned=*/false,
                          /*implicitTrunc=*/true);
  OpBuilder builder(op);
  auto constant = ConstantOp::create(builder, op->getLoc(), type,
                                     DenseElementsAttr::get(type, elements));
  copyScope(op, constant);
  op->replaceAllUsesWith(constant);
  return success();
}

LogicalResult ConstantFolder::fold(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : body)
    if (op.getNumResults() == 1 &&
        isa<RankedTensorType>(op.getResult(0).getType()))
      sources[&op] = classify(&op);
  for (Operation &op : llvm::make_early_inc_range(body))
    if (isWanted(&op) && failed(replace(&op)))
      return failure();
  return success();
}

LogicalResult smp::foldConstants(func::FuncOp function) {
  return ConstantFolder().fold(function);
}
