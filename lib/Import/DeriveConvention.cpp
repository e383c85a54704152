//===- DeriveConvention.cpp - How labels lie against tokens ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveConvention.h"
#include "SpecializeSteps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "smp/Interpret/Execute.h"

using namespace mlir;
using namespace smp;

/// A batch of as many rows shows what one row becomes.
static constexpr int64_t kRows = 2;

static bool isTokens(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2 &&
         isa<IntegerType>(tensor.getElementType()) &&
         !tensor.getElementType().isInteger(1);
}

static bool hasRole(DictionaryAttr attributes, StringRef role) {
  auto found =
      attributes ? attributes.getAs<StringAttr>(kRoleAttr) : StringAttr();
  return found && found.getValue() == role;
}

static bool hasLoss(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (hasRole(function.getResultAttrDict(i), "loss"))
      return true;
  return false;
}

/// The labels, if there are tokens and as many labels beside them. A third
/// sequence, such as an encoder's, is no token stream.
static std::optional<unsigned> findLabels(func::FuncOp function) {
  SmallVector<unsigned> tokens;
  std::optional<unsigned> labels;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (!isTokens(type))
      continue;
    tokens.push_back(i);
    if (!labels && hasRole(function.getArgAttrDict(i), "label"))
      labels = i;
  }
  auto length = [&](unsigned argument) {
    return cast<RankedTensorType>(function.getArgumentTypes()[argument])
        .getDimSize(1);
  };
  bool paired = tokens.size() == 2 && length(tokens[0]) == length(tokens[1]) &&
                !ShapedType::isDynamic(length(tokens[0]));
  return paired ? labels : std::nullopt;
}

/// What the first cross-entropy takes as labels, or null.
static Value findTarget(func::FuncOp function) {
  Value target;
  function.walk([&](Operation *op) {
    if (auto loss = dyn_cast<CrossEntropyOp>(op))
      target = loss.getLabels();
    else if (auto count = dyn_cast<LabelCountOp>(op))
      target = count.getLabels();
    return target ? WalkResult::interrupt() : WalkResult::advance();
  });
  return target;
}

/// Makes the function return this value alone.
static void returnOnly(func::FuncOp function, Value value) {
  Block &body = function.getBody().front();
  body.getTerminator()->setOperands(value);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(), value.getType()));
  function.setResAttrsAttr(ArrayAttr());
}

/// Zeros, and the numbers 0, 1, 2, ... as labels.
static std::vector<interpret::Tensor> numberedInputs(func::FuncOp function,
                                                     unsigned labels) {
  std::vector<interpret::Tensor> inputs;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    inputs.emplace_back(interpret::dataTypeOf(tensor.getElementType()),
                        tensor.getShape().vec());
  }
  std::span<int64_t> numbers = inputs[labels].mutableInts();
  std::iota(numbers.begin(), numbers.end(), 0);
  return inputs;
}

static bool readsModel(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<GetParameterOp, GetStateOp>(op) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What arrives at the cross-entropy; none when that cannot be followed.
static std::optional<interpret::Tensor> evaluateTarget(func::FuncOp function,
                                                       unsigned labels) {
  Value target = findTarget(function);
  if (!target)
    return std::nullopt;
  returnOnly(function, target);
  if (readsModel(function) ||
      failed(inferStaticShapes(function, {kRows, /*sequence=*/0})))
    return std::nullopt;
  auto results = interpret::execute(function, numberedInputs(function, labels));
  if (failed(results))
    return std::nullopt;
  return results->front();
}

FailureOr<std::string> smp::deriveConvention(ModuleOp module) {
  auto train = module.lookupSymbol<func::FuncOp>("train");
  std::optional<unsigned> labels = findLabels(train);
  if (!labels || !hasLoss(train))
    return std::string();
  DialectRegistry registry;
  interpret::registerInterpreter(registry);
  module.getContext()->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> copy = module.clone();
  auto function = copy->lookupSymbol<func::FuncOp>("train");
  std::optional<interpret::Tensor> target = evaluateTarget(function, *labels);
  if (!target || target->isFloat()) {
    InFlightDiagnostic error = module.emitError(
        "expects the labels to reach a cross-entropy in a way that shows how "
        "they lie against the tokens, got none that can be followed");
    error.attachNote() << "say it: --data-convention=hf when the model shifts "
                          "the labels itself, next-token when it does not, "
                          "none when they are no tokens";
    return failure();
  }
  int64_t length =
      cast<RankedTensorType>(train.getArgumentTypes()[*labels]).getDimSize(1);
  std::span<const int64_t> arrived = target->ints();
  bool shifted = int64_t(arrived.size()) >= length - 1;
  for (int64_t i = 0; shifted && i < length - 1; ++i)
    shifted = arrived[i] == i + 1;
  return std::string(shifted ? "hf" : "next-token");
}
