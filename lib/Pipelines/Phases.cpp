//===- Phases.cpp - The phases of smp-compile -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Pipelines/Phases.h"

#include "smp/Autodiff/Differentiate.h"
#include "smp/Autodiff/OptimizerSettings.h"
#include "smp/Autodiff/ParameterGroups.h"
#include "smp/Import/Passes.h"
#include "smp/Schedule/BuildSchedule.h"
#include "smp/Sharding/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

#include <array>
#include <chrono>

using namespace mlir;
using namespace smp;

static constexpr std::array<std::string_view, kPhaseCount> names = {
    "import",        "specialize", "shard",    "partition", "stage",
    "differentiate", "distribute", "schedule", "lower",     "emit"};

std::string_view smp::phaseName(Phase phase) {
  return names[static_cast<int>(phase)];
}

std::optional<Phase> smp::parsePhase(std::string_view name) {
  for (int phase = 0; phase < kPhaseCount; ++phase)
    if (names[phase] == name)
      return static_cast<Phase>(phase);
  return std::nullopt;
}

void smp::registerCompiler(DialectRegistry &registry) {
  registry.insert<SmpDialect, arith::ArithDialect, func::FuncDialect>();
  registerEmit(registry);
}

/// Of a microbatch, as the job format counts them.
static constexpr int64_t mostRows = 1 << 20;

namespace {

class Compiler {
public:
  Compiler(ModuleOp module, const CompileOptions &options)
      : module(module), options(options), config(options.config) {}

  FailureOr<CompileReport> run();

private:
  LogicalResult runPhase(Phase phase);
  LogicalResult import();
  LogicalResult checkSequenceLength();
  LogicalResult checkParameters();
  LogicalResult specialize();
  LogicalResult partition();
  void normalizeLoss();
  LogicalResult differentiate();
  LogicalResult schedule();
  LogicalResult emit();

  schedule::ScheduleOptions scheduleOptions() const;
  LogicalResult dump(Phase phase);
  InFlightDiagnostic emit(const Error &error) {
    InFlightDiagnostic diagnostic = module.emitError(error.message);
    if (!error.note.empty())
      diagnostic.attachNote() << error.note;
    return diagnostic;
  }

  ModuleOp module;
  const CompileOptions &options;
  const Config &config;
  CompileReport report;
};

} // namespace

/// The importer maps op to op; composites are put together on its result, as
/// later phases split, differentiate and lower them whole.
LogicalResult Compiler::import() {
  PassManager passes(module->getContext());
  passes.addPass(createRecoverCompositesPass());
  return passes.run(module);
}

/// A length that the export has fixed cannot be set.
LogicalResult Compiler::checkSequenceLength() {
  auto train = module.lookupSymbol<func::FuncOp>("train");
  if (!config.sequenceLength || !train)
    return success();
  for (Type argument : train.getArgumentTypes()) {
    auto type = dyn_cast<RankedTensorType>(argument);
    for (int64_t dim = 1; type && dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim) ||
          type.getDimSize(dim) == config.sequenceLength)
        return success();
  }
  InFlightDiagnostic diagnostic =
      module.emitError("expects 'sequence_length' only where an input's length "
                       "is open, got ")
      << *config.sequenceLength << " and inputs of fixed shape";
  diagnostic.attachNote() << "export the model with inputs of that length";
  return diagnostic;
}

/// From here on shapes are static. Must come before anything that reads a cost.
LogicalResult Compiler::specialize() {
  std::optional<int64_t> batch = config.batchSize;
  if (auto exported = module->getAttrOfType<IntegerAttr>("smp.batch");
      exported && !batch)
    batch = exported.getInt();
  if (!batch)
    return module.emitError(
        "expects a key 'batch_size', as the export names no "
        "example batch, got none");
  if (*batch % config.microbatches != 0) {
    InFlightDiagnostic diagnostic =
        module.emitError("expects 'microbatches' to divide 'batch_size' ")
        << *batch << ", got " << config.microbatches;
    diagnostic.attachNote() << "batch_size counts the rows of all microbatches";
    return diagnostic;
  }
  report.rows = *batch / config.microbatches;
  if (report.rows > mostRows) {
    InFlightDiagnostic diagnostic = module.emitError("expects at most ")
                                    << mostRows << " rows in a microbatch, got "
                                    << report.rows;
    diagnostic.attachNote() << "lower 'batch_size' or raise 'microbatches'";
    return diagnostic;
  }
  if (failed(checkSequenceLength()))
    return failure();
  PassManager passes(module->getContext());
  passes.addPass(
      createSpecializePass({report.rows, config.sequenceLength.value_or(0)}));
  if (failed(applyParameterGroups(module, config.optimizer)))
    return failure();
  // Cleans up what the folded masks leave behind.
  passes.addPass(createCSEPass());
  return passes.run(module);
}

schedule::ScheduleOptions Compiler::scheduleOptions() const {
  schedule::ScheduleOptions result;
  result.kind = *schedule::parseScheduleKind(name(config.pipeline));
  result.microbatches = config.microbatches;
  result.accumulation = config.gradientAccumulation;
  result.activeMicrobatches = config.activeMicrobatches;
  return result;
}

/// Jobs compute in float32. The parameters of another model are named here,
/// before some op of it has no such form.
LogicalResult Compiler::checkParameters() {
  for (auto parameter : module.getOps<ParameterOp>()) {
    Type element = cast<RankedTensorType>(parameter.getType()).getElementType();
    if (!isa<FloatType>(element) || element.isF32())
      continue;
    InFlightDiagnostic diagnostic =
        module.emitError("expects parameters of f32, got '")
        << parameter.getSymName() << "' of " << element;
    diagnostic.attachNote() << "export 'model.float()', its inputs of float32 "
                               "as well";
    return diagnostic;
  }
  return success();
}

LogicalResult Compiler::partition() {
  if (failed(checkParameters()))
    return failure();
  PartitionOptions plan;
  plan.partitions = config.pipelineParallelDegree;
  plan.memoryWeight = config.effectiveMemoryWeight();
  plan.contiguous = config.contiguous;
  plan.layout = config.pipelineLayout;
  for (const auto &[path, partition] : config.assignment)
    plan.assignment[path] = partition;
  if (!config.autoPartition)
    plan.defaultPartition = config.defaultPartition;
  bool sgd = config.optimizer.kind == OptimizerKind::SGD;
  plan.optimizerBytes = !sgd ? 8 : config.optimizer.momentum != 0 ? 4 : 0;
  // A schedule of more stages than there are ops takes long, and is of no use:
  // the partition will say so.
  auto train = module.lookupSymbol<func::FuncOp>("train");
  if (train && plan.partitions <=
                   int64_t(train.getBody().front().getOperations().size())) {
    auto inFlight = schedule::stageInFlight(plan.partitions, scheduleOptions());
    if (!inFlight)
      return emit(inFlight.error());
    plan.inFlight = *inFlight;
  }
  FailureOr<PartitionReport> made = partitionModule(module, plan);
  if (failed(made))
    return failure();
  report.partition = std::move(*made);
  return success();
}

/// What the terms of the loss are divided by beside their own counts.
void Compiler::normalizeLoss() {
  if (config.lossNormalization == LossNormalization::Step)
    return;
  bool sums = config.lossNormalization == LossNormalization::Sum;
  int64_t shares = sums ? 1 : config.microbatches * config.gradientAccumulation;
  module->setAttr(kLossSharesAttr,
                  Builder(module->getContext()).getI64IntegerAttr(shares));
}

LogicalResult Compiler::differentiate() {
  OptimizerSettings settings;
  settings.kind = config.optimizer.kind;
  settings.beta1 = config.optimizer.beta1;
  settings.beta2 = config.optimizer.beta2;
  settings.epsilon = config.optimizer.eps;
  settings.weightDecay = config.optimizer.weightDecay;
  settings.momentum = config.optimizer.momentum;
  settings.gradientClipping = config.gradientClipping;
  module->setAttr(kOptimizerAttr, settings.toAttribute(module->getContext()));
  if (failed(differentiateChunks(module)))
    return failure();
  // The gradient of x * x asks for the same product twice.
  PassManager passes(module->getContext());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

LogicalResult Compiler::schedule() {
  return buildSchedules(module, scheduleOptions());
}

/// Floating-point operations of one data owner in a step of as many
/// microbatches.
static double stepFlops(ModuleOp module, int64_t microbatches) {
  double flops = 0;
  for (ChunkOp chunk : module.getOps<ChunkOp>())
    for (FlatSymbolRefAttr name :
         {chunk.getForwardAttr(), chunk.getBackwardAttr()})
      if (name)
        module.lookupSymbol(name)->walk(
            [&](CostOpInterface op) { flops += op.getFlops(); });
  return flops * microbatches;
}

/// The plan as a text that can be read, compared and given back.
static nlohmann::json planToJson(const PartitionReport &report) {
  nlohmann::json units = nlohmann::json::array();
  for (const PartitionReport::Unit &unit : report.units)
    units.push_back({{"path", unit.path},
                     {"first_op", unit.firstOp},
                     {"chunk", unit.chunk}});
  nlohmann::json plan = {{"version", "1.0"},
                         {"rank_of_chunk", report.rankOfChunk},
                         {"units", units},
                         {"explanations", report.explanations}};
  if (report.objective)
    plan["objective"] = *report.objective;
  if (report.bound)
    plan["lower_bound"] = *report.bound;
  return plan;
}

LogicalResult Compiler::emit() {
  EmitOptions emission;
  emission.directory = options.jobDirectory;
  emission.config = config;
  emission.model = options.model;
  emission.flopsPerStep =
      module->hasAttr("smp.flops")
          ? module->getAttrOfType<FloatAttr>("smp.flops").getValueAsDouble()
          : 0;
  if (report.partition)
    emission.partition = planToJson(*report.partition);
  // Kernels are built in dialects that no earlier phase uses.
  module->getContext()->loadAllAvailableDialects();
  FailureOr<EmitReport> job = emitJob(module, emission);
  if (failed(job))
    return failure();
  report.job = std::move(*job);
  return success();
}

LogicalResult Compiler::runPhase(Phase phase) {
  switch (phase) {
  case Phase::Import:
    return import();
  case Phase::Specialize:
    return specialize();
  case Phase::Shard:
    // Nothing is split over `tp` yet: every layout is replicated.
    return success();
  case Phase::Partition:
    return partition();
  case Phase::Stage:
    normalizeLoss();
    if (config.dropLast)
      module->setAttr(kDropLastAttr, UnitAttr::get(module->getContext()));
    return stageChunks(module);
  case Phase::Differentiate:
    return differentiate();
  case Phase::Distribute:
    return distribute(module);
  case Phase::Schedule:
    return schedule();
  case Phase::Lower:
    // The work is counted before products become commands.
    module->setAttr(
        "smp.flops",
        Builder(module->getContext())
            .getF64FloatAttr(stepFlops(
                module, config.microbatches * config.gradientAccumulation)));
    return lowerPrograms(module);
  case Phase::Emit:
    return emit();
  }
  llvm_unreachable("all phases are handled");
}

LogicalResult Compiler::dump(Phase phase) {
  if (options.dumpDirectory.empty())
    return success();
  std::string message;
  llvm::SmallString<128> path(options.dumpDirectory);
  if (std::error_code failure = llvm::sys::fs::create_directories(path))
    return module.emitError("expects a folder '")
           << options.dumpDirectory << "', got " << failure.message();
  std::string file = std::to_string(static_cast<int>(phase)) + "-" +
                     std::string(phaseName(phase)) + ".mlir";
  llvm::sys::path::append(path, file);
  auto output = openOutputFile(path, &message);
  if (!output)
    return module.emitError(message);
  // With source lines, so that a run can go on from here.
  module->print(output->os(), OpPrintingFlags().enableDebugInfo());
  output->os().flush();
  if (std::error_code failure = output->os().error()) {
    output->os().clear_error();
    return module.emitError("expects to write '")
           << path << "', got " << failure.message();
  }
  output->keep();
  return success();
}

FailureOr<CompileReport> Compiler::run() {
  int first = static_cast<int>(options.startFrom);
  for (int index = first; index <= static_cast<int>(options.stopAfter);
       ++index) {
    auto phase = static_cast<Phase>(index);
    auto start = std::chrono::steady_clock::now();
    if (failed(runPhase(phase)) || failed(verify(module)))
      return failure();
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    if (options.progress)
      options.progress(phase, seconds.count());
    if (failed(dump(phase)))
      return failure();
  }
  return std::move(report);
}

FailureOr<CompileReport> smp::compile(ModuleOp module,
                                      const CompileOptions &options) {
  return Compiler(module, options).run();
}
