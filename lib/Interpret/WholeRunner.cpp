//===- WholeRunner.cpp - Steps of a module with one training function -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// @train is copied into two functions. One computes the counts of the loss
// terms from the labels alone; it runs for all microbatches of all owners. The
// other takes the sums of these counts as arguments and returns, besides the
// outputs, the gradients of all parameters.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "smp/Interpret/Execute.h"
#include "smp/Interpret/Gradient.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace {

class WholeRunner : public StepRunner {
public:
  WholeRunner(OwningOpRef<ModuleOp> owned, ModelState model,
              StepOptions options)
      : StepRunner(*owned, std::move(model), std::move(options)),
        copy(std::move(owned)) {}

  LogicalResult prepare();

protected:
  LogicalResult runStep(int64_t step, const TensorMap &batch,
                        StepResult &result) override;
  std::vector<std::string> inputNames() const override { return inputs; }

private:
  LogicalResult prepareCounts(func::FuncOp train);
  LogicalResult prepareGradients();
  std::vector<Tensor> argumentsOf(const TensorMap &batch, int64_t owner,
                                  int64_t microbatch) const;
  FailureOr<std::vector<std::vector<Tensor>>> countsOf(int64_t step,
                                                       const TensorMap &batch);
  LogicalResult collect(ArrayRef<Tensor> results, StepResult &result);
  FailureOr<TensorMap> runOwner(int64_t step, int64_t owner,
                                const TensorMap &batch,
                                ArrayRef<std::vector<Tensor>> counts,
                                StepResult &result);
  void averageStates(ArrayRef<TensorMap> owners);

  OwningOpRef<ModuleOp> copy;
  func::FuncOp countFunction, stepFunction;
  std::vector<std::string> inputs, outputs;
  /// Of the results, those that are what a state becomes.
  std::vector<bool> changesState;
  int64_t lossIndex = -1;
  /// The alias of each gradient that `stepFunction` returns.
  std::vector<std::string> gradientAliases;
  /// The samples' outputs of the microbatches so far.
  std::map<std::string, std::vector<Tensor>> outputParts;
};

} // namespace

static std::string nameOf(DictionaryAttr attributes, StringRef key) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(key))
      return name.str();
  return "";
}

static void setResults(func::FuncOp function, ValueRange results) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands(results);
  function->removeAttr(function.getResAttrsAttrName());
  function.setType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), results.getTypes()));
}

static void eraseDeadOps(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Counts labels apart from the losses of which they are a result.
static void separateCounts(func::FuncOp function) {
  function.walk([](CrossEntropyOp op) {
    OpBuilder builder(op);
    auto count = LabelCountOp::create(
        builder, op.getLoc(), op.getCount().getType(), op.getLabels(),
        op.getIgnoreIndexAttr(), op.getScopeAttr());
    op.getCount().replaceAllUsesWith(count.getResult());
  });
}

LogicalResult WholeRunner::prepare() {
  for (auto parameter : copy->getOps<ParameterOp>())
    if (auto *group = groupOf(options.config.optimizer, allNames(parameter));
        group && group->frozen)
      parameter.setFrozen(true);
  auto train = copy->lookupSymbol<func::FuncOp>("train");
  if (!train || train.isExternal())
    return module.emitError("expects a function '@train', got none");
  for (unsigned index = 0; index < train.getNumArguments(); ++index)
    inputs.push_back(nameOf(train.getArgAttrDict(index), kNameAttr));
  for (unsigned index = 0; index < train.getNumResults(); ++index) {
    DictionaryAttr attributes = train.getResultAttrDict(index);
    outputs.push_back(nameOf(attributes, kNameAttr));
    changesState.push_back(nameOf(attributes, kRoleAttr) == "state");
    if (nameOf(attributes, kRoleAttr) == "loss")
      lossIndex = index;
  }
  if (lossIndex < 0)
    return train.emitError("expects a result with the role 'loss', got none");
  separateCounts(train);
  stepFunction = train.clone();
  stepFunction.setName("step");
  copy->push_back(stepFunction);
  return failure(failed(prepareCounts(train)) || failed(prepareGradients()));
}

LogicalResult WholeRunner::prepareCounts(func::FuncOp train) {
  countFunction = train;
  SmallVector<Value> counts;
  train.walk([&](MeanLossOp op) { counts.push_back(op.getCount()); });
  setResults(countFunction, counts);
  eraseDeadOps(countFunction);
  return success();
}

LogicalResult WholeRunner::prepareGradients() {
  Block &body = stepFunction.getBody().front();
  SmallVector<MeanLossOp> terms;
  SmallVector<GetParameterOp> reads;
  auto frozen = [&](GetParameterOp op) {
    auto parameter = copy->lookupSymbol<ParameterOp>(op.getParameter());
    return !parameter || parameter.getFrozen();
  };
  for (Operation &op : body) {
    if (auto term = dyn_cast<MeanLossOp>(op))
      terms.push_back(term);
    if (auto read = dyn_cast<GetParameterOp>(op); read && !frozen(read))
      reads.push_back(read);
  }
  for (MeanLossOp term : terms)
    term.getCountMutable().assign(
        body.addArgument(term.getCount().getType(), term.getLoc()));
  SmallVector<Value> results(body.getTerminator()->getOperands());
  Value loss = results[lossIndex];
  OpBuilder builder(body.getTerminator());
  SmallVector<Value> targets(reads.begin(), reads.end());
  auto gradients =
      buildGradients(stepFunction, loss, fillLike(builder, loss, 1.0), targets);
  if (failed(gradients))
    return failure();
  // A parameter that no gradient reaches is not updated, not even decayed.
  for (auto [gradient, read] : llvm::zip_equal(*gradients, reads))
    if (gradient) {
      results.push_back(gradient);
      gradientAliases.push_back(read.getAlias().str());
    }
  stepFunction.setType(FunctionType::get(
      module.getContext(), body.getArgumentTypes(), ValueRange(results)));
  stepFunction->removeAttr(stepFunction.getArgAttrsAttrName());
  setResults(stepFunction, results);
  eraseDeadOps(stepFunction);
  return success();
}

std::vector<Tensor> WholeRunner::argumentsOf(const TensorMap &batch,
                                             int64_t owner,
                                             int64_t microbatch) const {
  std::vector<Tensor> arguments;
  arguments.reserve(inputs.size());
  for (const std::string &input : inputs)
    arguments.push_back(shareOf(batch.find(input)->second, owner, microbatch));
  return arguments;
}

/// The counts that each microbatch divides by, in order of owners and
/// microbatches.
FailureOr<std::vector<std::vector<Tensor>>>
WholeRunner::countsOf(int64_t step, const TensorMap &batch) {
  std::vector<std::vector<Tensor>> counts;
  for (int64_t owner = 0; owner < options.owners; ++owner)
    for (int64_t m = 0; m < options.microbatches(); ++m) {
      auto own = execute(countFunction, argumentsOf(batch, owner, m),
                         contextOf(step, owner, m));
      if (failed(own))
        return failure();
      counts.push_back(std::move(*own));
    }
  int64_t shares = counts.size();
  if (options.config.lossNormalization == LossNormalization::Step) {
    std::vector<Tensor> total = counts.front();
    for (int64_t share = 1; share < shares; ++share)
      for (auto [sumOfTerm, own] : llvm::zip_equal(total, counts[share]))
        sumOfTerm = sum(sumOfTerm, own);
    counts.assign(shares, total);
  }
  // A mean of means: each share's mean counts for its part of the step. Sums
  // of means are still a mean over the owners.
  int64_t parts = options.config.lossNormalization == LossNormalization::Step
                      ? 1
                  : options.config.lossNormalization == LossNormalization::Sum
                      ? options.owners
                      : shares;
  for (std::vector<Tensor> &own : counts)
    for (Tensor &count : own)
      count = Tensor::index(count.integer() * parts);
  return counts;
}

/// Adds what one microbatch returned to the results of the step.
LogicalResult WholeRunner::collect(ArrayRef<Tensor> results,
                                   StepResult &result) {
  for (auto [index, name] : llvm::enumerate(outputs)) {
    const Tensor &value = results[index];
    if (static_cast<int64_t>(index) == lossIndex)
      result.loss += value.floats()[0];
    else if (!changesState[index])
      outputParts[name].push_back(value.rank() ? value : value.reshaped({1}));
  }
  for (auto [index, alias] : llvm::enumerate(gradientAliases)) {
    const Tensor &gradient = results[outputs.size() + index];
    auto [entry, first] = result.aliasGradients.try_emplace(alias, gradient);
    if (!first)
      entry->second = sum(entry->second, gradient);
  }
  return success();
}

/// The microbatches of one owner, each with the states that the one before has
/// left; gives what they become.
FailureOr<TensorMap> WholeRunner::runOwner(int64_t step, int64_t owner,
                                           const TensorMap &batch,
                                           ArrayRef<std::vector<Tensor>> counts,
                                           StepResult &result) {
  TensorMap states = model.states;
  for (int64_t m = 0; m < options.microbatches(); ++m) {
    std::vector<Tensor> arguments = argumentsOf(batch, owner, m);
    llvm::append_range(arguments, counts[m]);
    Context context = contextOf(step, owner, m);
    context.states = &states;
    auto results = execute(stepFunction, arguments, context);
    if (failed(results) || failed(collect(*results, result)))
      return failure();
    for (auto [index, name] : llvm::enumerate(outputs))
      if (changesState[index])
        states[name] = (*results)[index];
  }
  return states;
}

/// The mean over the owners; integers count alike on all of them.
void WholeRunner::averageStates(ArrayRef<TensorMap> owners) {
  for (auto [index, name] : llvm::enumerate(outputs)) {
    if (!changesState[index])
      continue;
    Tensor mean = owners.front().find(name)->second;
    if (mean.isFloat()) {
      for (const TensorMap &states : owners.drop_front())
        mean = sum(mean, states.find(name)->second);
      for (double &element : mean.mutableFloats())
        element /= owners.size();
    }
    if (options.precision == Precision::Native)
      mean.roundToType();
    model.states[name] = mean;
  }
}

LogicalResult WholeRunner::runStep(int64_t step, const TensorMap &batch,
                                   StepResult &result) {
  auto counts = countsOf(step, batch);
  if (failed(counts))
    return failure();
  outputParts.clear();
  std::vector<TensorMap> states;
  for (int64_t owner = 0; owner < options.owners; ++owner) {
    size_t count = options.microbatches();
    auto after =
        runOwner(step, owner, batch,
                 ArrayRef(*counts).slice(owner * count, count), result);
    if (failed(after))
      return failure();
    states.push_back(std::move(*after));
  }
  averageStates(states);
  for (auto &[name, parts] : outputParts)
    result.outputs[name] = concatenate(parts);
  result.gradients = sumAliases(module, result.aliasGradients);
  result.gradientNorm = applyUpdate(module, result.gradients, options,
                                    contextOf(step, 0, 0).step, model);
  return success();
}

FailureOr<std::unique_ptr<StepRunner>>
interpret::createWholeRunner(ModuleOp module, ModelState model,
                             StepOptions options) {
  auto runner =
      std::make_unique<WholeRunner>(OwningOpRef<ModuleOp>(module.clone()),
                                    std::move(model), std::move(options));
  if (failed(runner->prepare()))
    return failure();
  return std::unique_ptr<StepRunner>(std::move(runner));
}
