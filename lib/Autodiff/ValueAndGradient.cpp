//===- ValueAndGradient.cpp - Gradients of a whole model ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reverse sweep over one function without chunks. Before and after:
//
//   func @train(%x) -> (tensor<f32> {smp.role = "loss"})
//   func @train(%x) -> (tensor<f32> {smp.role = "loss"},
//                       tensor<4x4xf32> {smp.name = "grad.w",
//                                        smp.role = "gradient"})
//
//===----------------------------------------------------------------------===//

#include "Backpropagation.h"
#include "Parameters.h"
#include "smp/Autodiff/Differentiate.h"
#include "smp/Autodiff/Passes.h"
#include "smp/Autodiff/ProgramBuilder.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_VALUEANDGRADIENTPASS
#include "smp/Autodiff/Passes.h.inc"
} // namespace smp

/// The value that the function returns as its loss, or null.
static Value findLoss(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto role = function.getResultAttrOfType<StringAttr>(i, kRoleAttr);
        role && role == "loss")
      return terminator->getOperand(i);
  return {};
}

static LogicalResult appendResult(func::FuncOp function, StringRef name,
                                  Value value) {
  Builder builder(function.getContext());
  auto attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(kNameAttr, builder.getStringAttr("grad." + name)),
       builder.getNamedAttr(kRoleAttr, builder.getStringAttr("gradient"))});
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), value);
  return function.insertResult(function.getNumResults(), value.getType(),
                               attributes);
}

LogicalResult smp::buildValueAndGradient(func::FuncOp function) {
  Value loss = findLoss(function);
  if (!loss)
    return function.emitError()
           << "expects a result of role 'loss' in function '"
           << function.getSymName() << "', got none";
  auto type = dyn_cast<RankedTensorType>(loss.getType());
  if (!isDifferentiableType(type) || type.getRank() != 0)
    return function.emitError()
           << "expects a loss that is a scalar of a floating type, got "
           << loss.getType();
  Block &block = function.getBody().front();
  ParameterTable parameters(function->getParentOfType<ModuleOp>());
  Activity activity;
  SmallVector<GetParameterOp> reads;
  for (auto read : block.getOps<GetParameterOp>())
    if (parameters.isTrained(read.getAlias())) {
      activity.addRoot(read);
      reads.push_back(read);
    }
  activity.propagate(block);

  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  OpBuilder builder(block.getTerminator());
  Backpropagation sweep(builder, activity);
  sweep.add(loss, createSeed(builder, loss));
  if (failed(sweep.run(ops)))
    return failure();

  // A name that is read more than once: the last read comes first, as for any
  // other value.
  llvm::MapVector<StringRef, Value> gradients;
  for (GetParameterOp read : llvm::reverse(reads)) {
    Value gradient = sweep.getCotangent(read);
    if (!gradient)
      continue;
    Value &sum = gradients[read.getAlias()];
    sum = sum ? AddOp::create(builder, read.getLoc(), sum, gradient).getResult()
              : gradient;
  }
  for (auto &[name, gradient] : gradients)
    if (failed(appendResult(function, name, gradient)))
      return failure();
  eraseDeadOps(block);
  return success();
}

LogicalResult smp::buildDerivatives(OpBuilder &builder, ArrayRef<Value> scalars,
                                    ArrayRef<Value> seeds, ArrayRef<Value> by,
                                    SmallVectorImpl<Value> &derivatives) {
  Block &block = *builder.getInsertionBlock();
  Activity activity;
  for (Value value : by)
    activity.addRoot(value);
  activity.propagate(block);
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  Backpropagation sweep(builder, activity);
  for (auto [scalar, seed] : llvm::zip_equal(scalars, seeds))
    sweep.add(scalar, seed);
  if (failed(sweep.run(ops)))
    return failure();
  for (Value value : by)
    derivatives.push_back(sweep.getCotangent(value));
  return success();
}

namespace {
struct ValueAndGradientPass
    : public smp::impl::ValueAndGradientPassBase<ValueAndGradientPass> {
  using ValueAndGradientPassBase::ValueAndGradientPassBase;

  void runOnOperation() override {
    auto target = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!target || target.isExternal()) {
      getOperation().emitError() << "expects a function '" << function
                                 << "' in the module, got none of that name";
      return signalPassFailure();
    }
    if (failed(buildValueAndGradient(target)))
      signalPassFailure();
  }
};
} // namespace
