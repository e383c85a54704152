//===- UpdateProgram.cpp - From gradients to new parameters ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankPrograms.h"

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

  Value gradientOfName(const Holdings::Trained &entry, const std::string &name,
                       int64_t owner);
  Value gradientOf(const Holdings::Trained &entry);
  Value squaredNorm();
  void stepAdamW(ParameterOp parameter, Value gradient);
  void stepSgd(ParameterOp parameter, Value gradient);
  void clearCounts();

  const Holdings &holdings;
  const OptimizerSettings &settings;
  int64_t rank;
  ProgramBuilder program;
  OpBuilder &builder;
  /// By position in `holdings.trained`; null where this rank holds none.
  SmallVector<Value> gradients;
  Value rate, correction1, correction2, scale;
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

void UpdateProgram::stepAdamW(ParameterOp parameter, Value gradient) {
  StringRef name = parameter.getSymName();
  RankedTensorType type = parameter.getType();
  std::string average = (name + "/exp_avg").str();
  std::string square = (name + "/exp_avg_sq").str();
  auto step = AdamWOp::create(
      builder, parameter.getLoc(),
      program.getArgument(BindingKind::Parameter, name, type), gradient,
      program.getArgument(BindingKind::Optimizer, average, type),
      program.getArgument(BindingKind::Optimizer, square, type), rate,
      correction1, correction2, scale, number(settings.beta1),
      number(settings.beta2), number(settings.epsilon),
      number(settings.weightDecay));
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
      rate, scale, number(settings.momentum), number(settings.weightDecay));
  program.addResult(BindingKind::Parameter, name, step.getNewParameter());
  if (keeps)
    program.addResult(BindingKind::Optimizer, buffer,
                      step.getNewMomentumBuffer());
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
    if (settings.gradientClipping)
      scale = ClipFactorOp::create(builder, loc, squares,
                                   number(*settings.gradientClipping));
  }
  rate = StepValueOp::create(builder, loc, StepValue::LearningRate);
  correction1 = StepValueOp::create(builder, loc, StepValue::BiasCorrection1);
  correction2 = StepValueOp::create(builder, loc, StepValue::BiasCorrection2);
  for (auto [entry, gradient] : llvm::zip(holdings.trained, gradients)) {
    if (!gradient)
      continue;
    if (settings.sgd)
      stepSgd(entry.parameter, gradient);
    else
      stepAdamW(entry.parameter, gradient);
  }
  clearCounts();
  return program.finish();
}

func::FuncOp smp::buildUpdate(ModuleOp module, const Holdings &holdings,
                              const OptimizerSettings &settings, int64_t rank) {
  return UpdateProgram(module, holdings, settings, rank).build();
}
