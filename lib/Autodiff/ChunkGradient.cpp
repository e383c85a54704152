//===- ChunkGradient.cpp - Forward and backward of one chunk --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkGradient.h"
#include "smp/Autodiff/Differentiate.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// Calls `visit` with index and key for each binding of one kind in `count`.
static void forEachBinding(
    unsigned count, llvm::function_ref<BindingAttr(unsigned)> binding,
    BindingKind kind, llvm::function_ref<void(unsigned, StringRef)> visit) {
  for (unsigned index = 0; index < count; ++index)
    if (BindingAttr attr = binding(index); attr && attr.getKind() == kind)
      visit(index, attr.getKey());
}

static void forEachArgument(func::FuncOp function, BindingKind kind,
                            llvm::function_ref<void(Value, StringRef)> visit) {
  forEachBinding(
      function.getNumArguments(),
      [&](unsigned index) { return getArgumentBinding(function, index); }, kind,
      [&](unsigned index, StringRef key) {
        visit(function.getArgument(index), key);
      });
}

static void
forEachResult(func::FuncOp function, BindingKind kind,
              llvm::function_ref<void(OpOperand &, StringRef)> visit) {
  Operation *terminator = function.getBody().front().getTerminator();
  forEachBinding(
      function.getNumResults(),
      [&](unsigned index) { return getResultBinding(function, index); }, kind,
      [&](unsigned index, StringRef key) {
        visit(terminator->getOpOperand(index), key);
      });
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

Value ChunkGradient::addForwardArgument(BindingKind kind, StringRef key,
                                        Type type) {
  auto binding = BindingAttr::get(forward.getContext(), kind, key);
  for (unsigned index = 0; index < forward.getNumArguments(); ++index)
    if (getArgumentBinding(forward, index) == binding)
      return forward.getArgument(index);
  Builder builder(forward.getContext());
  unsigned index = forward.getNumArguments();
  auto attributes =
      builder.getDictionaryAttr(builder.getNamedAttr(kBindingAttr, binding));
  if (failed(forward.insertArgument(index, type, attributes, forward.getLoc())))
    return {};
  return forward.getArgument(index);
}

LogicalResult ChunkGradient::divideByStepCounts() {
  bool ownMeans =
      forward->getParentOfType<ModuleOp>()->hasAttr(kLossSharesAttr);
  for (auto loss : body().getOps<MeanLossOp>()) {
    Value count = addForwardArgument(BindingKind::Count, loss.getTerm(),
                                     loss.getCount().getType());
    if (!count)
      return failure();
    // The step's count is then the number of means.
    if (ownMeans) {
      OpBuilder builder(loss);
      count = MulOp::create(builder, loss.getLoc(), loss.getCount(), count,
                            loss.getScope());
    }
    loss.getCountMutable().assign(count);
  }
  eraseDeadOps(body());
  return success();
}

LogicalResult ChunkGradient::prepare(llvm::StringSet<> &activations) {
  if (failed(divideByStepCounts()))
    return failure();
  forEachArgument(forward, BindingKind::Parameter,
                  [&](Value argument, StringRef key) {
                    if (parameters.isTrained(key))
                      activity.addRoot(argument);
                  });
  forEachArgument(forward, BindingKind::Activation,
                  [&](Value argument, StringRef key) {
                    if (activations.contains(key))
                      activity.addRoot(argument);
                  });
  activity.propagate(body());
  forEachResult(forward, BindingKind::Activation,
                [&](OpOperand &result, StringRef key) {
                  if (activity.isActive(result.get()))
                    activations.insert(key);
                });
  return success();
}

//===----------------------------------------------------------------------===//
// The backward function
//===----------------------------------------------------------------------===//

void ChunkGradient::seed(Backpropagation &sweep, ProgramBuilder &backward,
                         const llvm::StringSet<> &cotangents) {
  forEachResult(forward, BindingKind::Loss, [&](OpOperand &loss, StringRef) {
    sweep.add(loss.get(), createSeed(backward.getBuilder(), loss.get()));
  });
  forEachResult(
      forward, BindingKind::Activation, [&](OpOperand &result, StringRef key) {
        if (!cotangents.contains(key) || !activity.isActive(result.get()))
          return;
        sweep.add(result.get(),
                  backward.getArgument(BindingKind::Cotangent, key,
                                       result.get().getType()));
      });
}

/// The module that has the parameter of this name.
static StringRef moduleOf(StringRef parameter) {
  size_t dot = parameter.rfind('.');
  return dot == StringRef::npos ? StringRef() : parameter.take_front(dot);
}

void ChunkGradient::addBackwardResults(Backpropagation &sweep,
                                       ProgramBuilder &backward,
                                       llvm::StringSet<> &cotangents) {
  cotangents.clear();
  forEachArgument(forward, BindingKind::Activation,
                  [&](Value argument, StringRef key) {
                    Value cotangent = sweep.getCotangent(argument);
                    if (!cotangent)
                      return;
                    backward.addResult(BindingKind::Cotangent, key, cotangent);
                    cotangents.insert(key);
                  });
  forEachArgument(forward, BindingKind::Parameter,
                  [&](Value argument, StringRef key) {
                    Value gradient = sweep.getCotangent(argument);
                    if (!gradient)
                      return;
                    Value sum = backward.getArgument(BindingKind::Gradient, key,
                                                     argument.getType());
                    backward.addResult(BindingKind::Gradient, key,
                                       AddOp::create(backward.getBuilder(),
                                                     gradient.getLoc(), sum,
                                                     gradient, moduleOf(key)));
                  });
}

Value ChunkGradient::localiseValue(Value value, ProgramBuilder &backward,
                                   OpBuilder &builder) {
  if (Value known = local.lookup(value))
    return known;
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && policy.isFree(value)) {
    result = backward.getArgument(
        getArgumentBinding(forward, argument.getArgNumber()), value.getType());
  } else if (policy.isRecomputed(value)) {
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, localiseValue(operand, backward, builder));
    Operation *copy = builder.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
      local[from] = to;
    return local.lookup(value);
  } else {
    result = backward.getArgument(
        BindingKind::Saved, std::to_string(saved.size()), value.getType());
    saved.push_back(value);
  }
  return local[value] = result;
}

/// Replaces the values of the forward function that the gradient ops read.
void ChunkGradient::localise(ProgramBuilder &backward) {
  SmallVector<Operation *> ops;
  for (Operation &op : backward.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getParentRegion() != &backward.getBody())
        operand.set(localiseValue(operand.get(), backward, builder));
  }
}

void ChunkGradient::accumulateLosses() {
  OpBuilder builder(terminator());
  forEachResult(
      forward, BindingKind::Loss, [&](OpOperand &loss, StringRef key) {
        Value sum =
            addForwardArgument(BindingKind::Loss, key, loss.get().getType());
        loss.set(AddOp::create(builder, loss.get().getLoc(), sum, loss.get()));
      });
}

LogicalResult ChunkGradient::returnSavedValues() {
  Builder builder(forward.getContext());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned index = 0; index < saved.size(); ++index)
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        kBindingAttr, BindingAttr::get(forward.getContext(), BindingKind::Saved,
                                       std::to_string(index)))));
  SmallVector<unsigned> places(saved.size(), forward.getNumResults());
  if (failed(forward.insertResults(places, ValueRange(saved).getTypes(),
                                   attributes)))
    return failure();
  terminator()->insertOperands(terminator()->getNumOperands(), saved);
  return success();
}

/// An input that the backward function reads again keeps its role.
static void copyInputRoles(func::FuncOp from, func::FuncOp to) {
  llvm::DenseMap<Attribute, Attribute> roles;
  for (unsigned i = 0; i < from.getNumArguments(); ++i)
    if (Attribute role = from.getArgAttr(i, kRoleAttr))
      roles[getArgumentBinding(from, i)] = role;
  for (unsigned i = 0; i < to.getNumArguments(); ++i)
    if (Attribute role = roles.lookup(getArgumentBinding(to, i)))
      to.setArgAttr(i, kRoleAttr, role);
}

FailureOr<func::FuncOp> ChunkGradient::build(ModuleOp module, StringRef name,
                                             llvm::StringSet<> &cotangents) {
  SmallVector<Operation *> ops;
  for (Operation &op : body().without_terminator())
    ops.push_back(&op);
  ProgramBuilder backward(module, name, forward.getLoc());
  Backpropagation sweep(backward.getBuilder(), activity);
  seed(sweep, backward, cotangents);
  if (failed(sweep.run(ops)))
    return failure();
  addBackwardResults(sweep, backward, cotangents);
  backward.addReturn();
  localise(backward);
  accumulateLosses();
  if (failed(returnSavedValues()))
    return failure();
  func::FuncOp function = backward.finish();
  copyInputRoles(forward, function);
  function->moveAfter(forward);
  return function;
}
