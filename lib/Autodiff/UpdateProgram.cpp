//===- UpdateProgram.cpp - From gradients to new parameters ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankPrograms.h"
#include "smp/Autodiff/ParameterGroups.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace {
class UpdateProgram {
public:
  UpdateProgram(ModuleOp module, const Holdings &holdings,
                const OptimizerSettings &settings, int64_t rank)
      : holdings(holdings), settings(settings), rank(rank),
        program(module, "rank" + std::to_string(rank) + "_update",
                module.getLoc()),
        builder(program.getBuilder()) {}

  func::FuncOp build();

private:
  bool holds(const Holdings::Trained &entry) const {
    return entry.holders.count(rank) > 0;
  }
  Value createFill(Type type, double value) {
    return FillOp::create(builder, program.getLoc(), type,
                          builder.getF64FloatAttr(value), ValueRange());
  }
  FloatAttr number(double value) { return builder.getF64FloatAttr(value); }
  FloatAttr decayOf(ParameterOp parameter) {
    auto own = parameter->getAttrOfType<FloatAttr>(kWeightDecayAttr);
    return own ? own : number(settings.weightDecay);
  }

  Value gradientOfName(const Holdings::Trained &entry, const std::string &name,
                       int64_t owner);
  Value gradientOf(const Holdings::Trained &entry);
  Value squaredNorm();
  Value scaleOf(Value squares);
  Value rateOf(ParameterOp parameter);
  void stepAdam(ParameterOp parameter, Value gradient);
  void stepSgd(ParameterOp parameter, Value gradient);
  void averageStates();
  void averageStates(Type type, ArrayRef<std::string> names);
  void clearCounts();

  const Holdings &holdings;
  const OptimizerSettings &settings;
  int64_t rank;
  ProgramBuilder program;
  OpBuilder &builder;
  /// By position in `holdings.trained`; null where this rank holds none.
  SmallVector<Value> gradients;
  Value rate, correction1, correction2, scale;
  /// Products of the rate, by their factor.
  std::map<double, Value> scaledRates;
};
} // namespace

/// The gradient of the uses under one name, on every holder of the parameter.
Value UpdateProgram::gradientOfName(const Holdings::Trained &entry,
                                    const std::string &name, int64_t owner) {
  MLIRContext *context = builder.getContext();
  RankedTensorType type = entry.parameter.getType();
  Value value;
  if (owner == rank)
    value = replicate(program,
                      program.getArgument(BindingKind::Gradient, name, type),
                      partialOverReplicas(context),
                      "gradient of " + quoted(name) + " over the replicas");
  else
    value = createFill(type, 0.0);
  if (entry.holders.size() == 1)
    return value;
  return replicate(program, value,
                   overStages(context, entry.holders, Placement::Owned, owner),
                   "gradient of " + quoted(name) +
                       " for the stages that share " +
                       quoted(entry.parameter.getSymName()));
}

Value UpdateProgram::gradientOf(const Holdings::Trained &entry) {
  Value sum;
  for (const auto &[name, owner] : entry.gradients) {
    Value value = gradientOfName(entry, name, owner);
    sum = sum ? AddOp::create(builder, value.getLoc(), sum, value).getResult()
              : value;
  }
  return sum;
}

/// Squares of all parameters, each counted where it is first held, in a vector
/// in the order of the module. Stages add zeros to each other's numbers, which
/// is exact, so the norm does not depend on the cut.
Value UpdateProgram::squaredNorm() {
  Location loc = program.getLoc();
  auto vectorOf = [&](int64_t size) {
    return RankedTensorType::get({size}, builder.getF64Type());
  };
  SmallVector<Value> parts;
  int64_t gap = 0;
  auto closeGap = [&] {
    if (gap > 0)
      parts.push_back(createFill(vectorOf(gap), 0.0));
    gap = 0;
  };
  for (auto [entry, gradient] : llvm::zip(holdings.trained, gradients)) {
    if (*entry.holders.begin() != rank) {
      ++gap;
      continue;
    }
    closeGap();
    parts.push_back(SumOfSquaresOp::create(builder, loc, gradient));
  }
  closeGap();
  Value squares = ConcatOp::create(builder, loc, parts, 0);
  if (holdings.ranks.size() > 1)
    squares =
        replicate(program, squares,
                  overStages(builder.getContext(), {}, Placement::Partial),
                  "norm of the gradients");
  return ReduceSumOp::create(builder, loc, squares, ArrayRef<int64_t>{0});
}

/// What gradients are multiplied by: 1, or the factor that clips them. Where
/// their norm is not finite it is not a number, and the update is left out.
Value UpdateProgram::scaleOf(Value squares) {
  Location loc = program.getLoc();
  Type type = squares.getType();
  Value zero = MulOp::create(builder, loc, squares, createFill(type, 0.0));
  Value one = AddOp::create(builder, loc, zero, createFill(type, 1.0));
  if (!settings.gradientClipping)
    return one;
  Value factor = ClipFactorOp::create(builder, loc, squares,
                                      number(*settings.gradientClipping));
  return MulOp::create(builder, loc, factor, one);
}

/// The learning rate of a parameter: that of the step, or a multiple.
Value UpdateProgram::rateOf(ParameterOp parameter) {
  auto factor = parameter->getAttrOfType<FloatAttr>(kRateScaleAttr);
  if (!factor || factor.getValueAsDouble() == 1.0)
    return rate;
  Value &scaled = scaledRates[factor.getValueAsDouble()];
  if (!scaled)
    scaled =
        MulOp::create(builder, program.getLoc(), rate,
                      createFill(rate.getType(), factor.getValueAsDouble()));
  return scaled;
}

void UpdateProgram::stepAdam(ParameterOp parameter, Value gradient) {
  StringRef name = parameter.getSymName();
  RankedTensorType type = parameter.getType();
  std::string average = (name + "/exp_avg").str();
  std::string square = (name + "/exp_avg_sq").str();
  UnitAttr coupled =
      settings.kind == OptimizerKind::Adam ? builder.getUnitAttr() : UnitAttr();
  auto step = AdamWOp::create(
      builder, parameter.getLoc(),
      program.getArgument(BindingKind::Parameter, name, type), gradient,
      program.getArgument(BindingKind::Optimizer, average, type),
      program.getArgument(BindingKind::Optimizer, square, type),
      rateOf(parameter), correction1, correction2, scale,
      number(settings.beta1), number(settings.beta2), number(settings.epsilon),
      decayOf(parameter), coupled);
  program.addResult(BindingKind::Parameter, name, step.getNewParameter());
  program.addResult(BindingKind::Optimizer, average, step.getNewExpAvg());
  program.addResult(BindingKind::Optimizer, square, step.getNewExpAvgSq());
}

void UpdateProgram::stepSgd(ParameterOp parameter, Value gradient) {
  StringRef name = parameter.getSymName();
  RankedTensorType type = parameter.getType();
  std::string buffer = (name + "/momentum_buffer").str();
  bool keeps = settings.momentum != 0.0;
  auto step = SgdOp::create(
      builder, parameter.getLoc(),
      program.getArgument(BindingKind::Parameter, name, type), gradient,
      keeps ? program.getArgument(BindingKind::Optimizer, buffer, type)
            : Value(),
      rateOf(parameter), scale, number(settings.momentum), decayOf(parameter));
  program.addResult(BindingKind::Parameter, name, step.getNewParameter());
  if (keeps)
    program.addResult(BindingKind::Optimizer, buffer,
                      step.getNewMomentumBuffer());
}

/// Each replica has folded its own microbatches into its states: the mean of
/// these holds. Integers count alike on all replicas.
void UpdateProgram::averageStates() {
  auto found = holdings.states.find(rank);
  if (found == holdings.states.end())
    return;
  llvm::MapVector<Type, SmallVector<std::string>> byType;
  for (const auto &[name, type] : found->second)
    if (auto element = dyn_cast<FloatType>(type.getElementType());
        element && type.getNumElements() > 0)
      byType[element].push_back(name);
  for (const auto &[type, names] : byType)
    averageStates(type, names);
}

/// All states of one type in one vector, and behind them a one, whose sum is
/// the number of replicas: one reduction.
void UpdateProgram::averageStates(Type type, ArrayRef<std::string> names) {
  Location loc = program.getLoc();
  const auto &types = holdings.states.find(rank)->second;
  auto vectorOf = [&](int64_t size) {
    return RankedTensorType::get({size}, type);
  };
  SmallVector<Value> parts;
  for (const std::string &name : names) {
    RankedTensorType shape = types.find(name)->second;
    parts.push_back(ReshapeOp::create(
        builder, loc, vectorOf(shape.getNumElements()),
        program.getArgument(BindingKind::State, name, shape), ValueRange()));
  }
  parts.push_back(createFill(vectorOf(1), 1.0));
  Value sums = replicate(program, ConcatOp::create(builder, loc, parts, 0),
                         partialOverReplicas(builder.getContext()),
                         "states over the replicas");
  int64_t size = cast<RankedTensorType>(sums.getType()).getNumElements();
  Value replicas = SliceOp::create(builder, loc, sums, 0, size - 1, size, 1);
  int64_t begin = 0;
  for (const std::string &name : names) {
    RankedTensorType shape = types.find(name)->second;
    int64_t end = begin + shape.getNumElements();
    Value sum = SliceOp::create(builder, loc, sums, 0, begin, end, 1);
    Value divisor =
        ExpandOp::create(builder, loc, sum.getType(), replicas,
                         builder.getDenseI64ArrayAttr({0}), ValueRange());
    Value mean = DivOp::create(builder, loc, sum, divisor);
    program.addResult(
        BindingKind::State, name,
        ReshapeOp::create(builder, loc, shape, mean, ValueRange()));
    begin = end;
  }
}

/// The counts of the next step start from zero.
void UpdateProgram::clearCounts() {
  Type type = RankedTensorType::get({}, builder.getI64Type());
  for (const auto &[term, count] : holdings.counts)
    if (count.producers.count(rank))
      program.addResult(BindingKind::Count, term, createFill(type, 0.0));
}

func::FuncOp UpdateProgram::build() {
  Location loc = program.getLoc();
  for (const Holdings::Trained &entry : holdings.trained)
    gradients.push_back(holds(entry) ? gradientOf(entry) : Value());
  if (!holdings.trained.empty()) {
    Value squares = squaredNorm();
    program.addResult(BindingKind::Metric, "grad_norm",
                      SqrtOp::create(builder, loc, squares));
    scale = scaleOf(squares);
  }
  rate = StepValueOp::create(builder, loc, StepValue::LearningRate);
  correction1 = StepValueOp::create(builder, loc, StepValue::BiasCorrection1);
  correction2 = StepValueOp::create(builder, loc, StepValue::BiasCorrection2);
  for (auto [entry, gradient] : llvm::zip(holdings.trained, gradients)) {
    if (!gradient)
      continue;
    if (settings.kind == OptimizerKind::SGD)
      stepSgd(entry.parameter, gradient);
    else
      stepAdam(entry.parameter, gradient);
  }
  averageStates();
  clearCounts();
  return program.finish();
}

func::FuncOp smp::buildUpdate(ModuleOp module, const Holdings &holdings,
                              const OptimizerSettings &settings, int64_t rank) {
  return UpdateProgram(module, holdings, settings, rank).build();
}
