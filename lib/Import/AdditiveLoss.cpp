//===- AdditiveLoss.cpp - A loss that parts of a batch add up to ----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdditiveLoss.h"
#include "GraphImporter.h"
#include "smp/IR/SmpDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {

class AdditiveLoss {
public:
  AdditiveLoss(func::FuncOp function, int64_t fixedBatch)
      : function(function), fixedBatch(fixedBatch) {
    for (Value argument : function.getArguments())
      dependent.insert(argument);
    for (Operation &op : function.getBody().front())
      if (llvm::any_of(op.getOperands(), [&](Value v) { return depends(v); }))
        dependent.insert(op.result_begin(), op.result_end());
  }

  LogicalResult visit(OpOperand &use);
  void divideOtherMeans();

private:
  bool depends(Value value) const { return dependent.contains(value); }
  bool hasBatch(Value value) const;
  bool isLinear(DifferentiableOpInterface op, ArrayRef<bool> wanted) const;
  bool sumsOverBatch(Operation *op) const;
  LogicalResult refuse(Operation *op) const;
  Value share();
  Value timesShare(Operation *user, Value term);

  func::FuncOp function;
  int64_t fixedBatch;
  llvm::DenseSet<Value> dependent;
  llvm::DenseSet<OpOperand *> visited;
  Value shareOfBatch;
};

} // namespace

/// Whether a dim counts samples; where the batch is fixed, a multiple of it is
/// taken to.
bool AdditiveLoss::hasBatch(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && llvm::any_of(type.getShape(), [&](int64_t size) {
           return ShapedType::isDynamic(size) ||
                  (fixedBatch > 0 && size > 0 && size % fixedBatch == 0);
         });
}

/// Whether the gradient for the wanted operands reads nothing of the samples.
bool AdditiveLoss::isLinear(DifferentiableOpInterface op,
                            ArrayRef<bool> wanted) const {
  SmallVector<Value> read;
  op.getSavedValues(wanted, read);
  return llvm::none_of(read, [&](Value value) { return depends(value); });
}

/// Whether the result is a sum over samples: linear in each operand, as a
/// product is, and without their dim.
bool AdditiveLoss::sumsOverBatch(Operation *op) const {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable || llvm::any_of(op->getResults(), [&](Value value) {
        return hasBatch(value);
      }))
    return false;
  bool counts = false;
  for (OpOperand &operand : op->getOpOperands()) {
    counts |= hasBatch(operand.get());
    SmallVector<bool> wanted(op->getNumOperands());
    wanted[operand.getOperandNumber()] = true;
    SmallVector<Value> read;
    differentiable.getSavedValues(wanted, read);
    if (llvm::is_contained(read, operand.get()) ||
        llvm::any_of(op->getResults(), [&](Value result) {
          return llvm::is_contained(read, result);
        }))
      return false;
  }
  return counts;
}

LogicalResult AdditiveLoss::refuse(Operation *op) const {
  bool placed = !isa<UnknownLoc>(op->getLoc());
  InFlightDiagnostic error =
      emitError(placed ? op->getLoc() : op->getParentOp()->getLoc(),
                "expects a loss that is a sum or a mean over samples, or a "
                "weighted sum of such, got '")
      << op->getName() << "' of one";
  error.attachNote() << "each microbatch of each replica computes the loss of "
                        "its own samples, and these are added; let the model "
                        "return what is to be added as its loss";
  return error;
}

/// The rows of this part of the batch by those of the whole.
Value AdditiveLoss::share() {
  if (shareOfBatch)
    return shareOfBatch;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  auto scalar = [&](Type element) {
    return RankedTensorType::get({}, element);
  };
  Value count;
  auto batched = llvm::find_if(function.getArguments(), [&](Value argument) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    return type && type.getRank() > 0 && type.isDynamicDim(0);
  });
  if (batched == function.getArguments().end()) {
    count = FillOp::create(
        builder, loc, scalar(builder.getI64Type()),
        builder.getF64FloatAttr(std::max<int64_t>(1, fixedBatch)),
        ValueRange());
  } else {
    Value rows = DimOp::create(builder, loc, *batched, 0);
    auto type =
        RankedTensorType::get({ShapedType::kDynamic}, builder.getI64Type());
    Value ones = FillOp::create(builder, loc, type,
                                builder.getF64FloatAttr(1.0), ValueRange(rows));
    count = ReduceSumOp::create(builder, loc, scalar(builder.getI64Type()),
                                ones, ArrayRef<int64_t>{0});
  }
  Value rows =
      CastOp::create(builder, loc, scalar(builder.getF32Type()), count);
  int64_t terms = llvm::range_size(function.getOps<MeanLossOp>());
  std::string name = terms ? "loss_" + std::to_string(terms) : "loss";
  return shareOfBatch = MeanLossOp::create(builder, loc, rows.getType(), rows,
                                           count, builder.getStringAttr(name));
}

/// A term that no sample reaches, as this part of the batch has it; it belongs
/// to the module of its user.
Value AdditiveLoss::timesShare(Operation *user, Value term) {
  auto type = cast<RankedTensorType>(term.getType());
  Value factor = share();
  ScopeListener listener;
  if (auto model = dyn_cast<ModelOpInterface>(user))
    listener.scope = model.getScope().str();
  OpBuilder builder(user, &listener);
  Location loc = user->getLoc();
  if (auto wanted = RankedTensorType::get({}, type.getElementType());
      factor.getType() != wanted)
    factor = CastOp::create(builder, loc, wanted, factor);
  if (type.getRank() > 0)
    factor = ExpandOp::create(builder, loc, type, factor, ArrayRef<int64_t>{},
                              ValueRange());
  return MulOp::create(builder, loc, type, term, factor);
}

/// Makes a value that is a term of the loss one of its parts.
LogicalResult AdditiveLoss::visit(OpOperand &use) {
  Value value = use.get();
  if (!visited.insert(&use).second)
    return success();
  if (!depends(value)) {
    use.set(timesShare(use.getOwner(), value));
    return success();
  }
  Operation *op = value.getDefiningOp();
  if (!op || isa<CrossEntropyOp, MeanLossOp>(op) || sumsOverBatch(op))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(depends(operand));
  if (!differentiable || !isLinear(differentiable, wanted))
    return refuse(op);
  // A factor is no term: what the gradient reads stays as it is.
  SmallVector<Value> read;
  differentiable.getSavedValues(wanted, read);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !llvm::is_contained(read, operand.get()) && failed(visit(operand)))
      return failure();
  return success();
}

/// A mean over samples that the model computes with, and does not add to the
/// loss, is one of the samples that are there: only terms are divided by the
/// counts of a whole step.
void AdditiveLoss::divideOtherMeans() {
  for (MeanLossOp mean :
       llvm::make_early_inc_range(function.getOps<MeanLossOp>())) {
    SmallVector<OpOperand *> others;
    for (OpOperand &use : mean->getUses())
      if (!visited.contains(&use) && !isa<func::ReturnOp>(use.getOwner()))
        others.push_back(&use);
    if (others.empty() || mean.getResult() == shareOfBatch)
      continue;
    ScopeListener listener;
    listener.scope = mean.getScope().str();
    OpBuilder builder(mean, &listener);
    auto type = cast<RankedTensorType>(mean.getType());
    Value count = CastOp::create(builder, mean.getLoc(), type, mean.getCount());
    Value quotient =
        DivOp::create(builder, mean.getLoc(), type, mean.getSum(), count);
    for (OpOperand *use : others)
      use->set(quotient);
    if (mean.use_empty())
      mean.erase();
  }
}

LogicalResult smp::makeLossAdditive(func::FuncOp function, int64_t fixedBatch) {
  AdditiveLoss additive(function, fixedBatch);
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto role = function.getResultAttrOfType<StringAttr>(index, kRoleAttr);
    if (!role || role.getValue() != "loss")
      continue;
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[index]);
    if (type && type.getRank() > 0) {
      InFlightDiagnostic error =
          function.emitError("expects a loss that is a scalar, got ") << type;
      error.attachNote() << "reduce it to one number, as '.mean()' does";
      return error;
    }
    if (failed(additive.visit(terminator->getOpOperand(index))))
      return failure();
  }
  additive.divideOtherMeans();
  return success();
}
