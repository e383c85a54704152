//===- BuildSchedule.cpp - Writes the schedules of a module's chunks -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/BuildSchedule.h"

#include "smp/IR/SmpDialect.h"
#include "smp/Schedule/Checker.h"
#include "smp/Schedule/Lowering.h"
#include "smp/Schedule/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace smp;
using schedule::Action;
using schedule::ActionKind;
using schedule::ChunkGraph;
using schedule::Program;

namespace smp {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "smp/Schedule/Passes.h.inc"
} // namespace smp

static InFlightDiagnostic emit(ModuleOp module, const Error &error) {
  InFlightDiagnostic diagnostic = module.emitError(error.message);
  if (!error.note.empty())
    diagnostic.attachNote() << error.note;
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// From chunks to their graph
//===----------------------------------------------------------------------===//

namespace {

/// The programs of a chunk, by kind.
using ProgramNames = SmallVector<std::pair<Program, FlatSymbolRefAttr>>;

class GraphReader {
public:
  explicit GraphReader(ModuleOp module) : module(module), symbols(module) {}

  FailureOr<ChunkGraph> run();

private:
  LogicalResult readChunk(ChunkOp chunk);
  void readProgram(Program kind, func::FuncOp function, int chunk);
  void addEdges();

  /// Whether a program of a chunk returns values of a kind to its neighbour.
  using Returned = std::set<std::pair<int, Program>>;

  ModuleOp module;
  SymbolTable symbols;
  ChunkGraph graph;
  Returned activations, cotangents;
  llvm::MapVector<StringAttr, schedule::Input> inputs;
};

} // namespace

static ProgramNames programsOf(ChunkOp chunk) {
  ProgramNames names;
  auto add = [&](Program kind, FlatSymbolRefAttr name) {
    if (name)
      names.emplace_back(kind, name);
  };
  add(Program::Count, chunk.getCountAttr());
  add(Program::Forward, chunk.getForwardAttr());
  add(Program::Backward, chunk.getBackwardAttr());
  add(Program::Evaluate, chunk.getEvaluateAttr());
  add(Program::Predict, chunk.getPredictAttr());
  return names;
}

void GraphReader::readProgram(Program kind, func::FuncOp function, int chunk) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto binding = function.getArgAttrOfType<BindingAttr>(index, kBindingAttr);
    if (!binding || binding.getKind() != BindingKind::Input)
      continue;
    auto key = StringAttr::get(module.getContext(), binding.getKey());
    schedule::Input &input = inputs[key];
    input.name = binding.getKey().str();
    if (input.uses.empty() || input.uses.back().chunk != chunk)
      input.uses.push_back({chunk, {}});
    input.uses.back().programs.insert(kind);
  }
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto binding =
        function.getResultAttrOfType<BindingAttr>(index, kBindingAttr);
    if (!binding)
      continue;
    if (binding.getKind() == BindingKind::Activation)
      activations.insert({chunk, kind});
    if (binding.getKind() == BindingKind::Cotangent)
      cotangents.insert({chunk, kind});
    if (binding.getKind() == BindingKind::Saved)
      graph.chunks[chunk].stash = true;
  }
}

LogicalResult GraphReader::readChunk(ChunkOp chunk) {
  int index = graph.chunks.size();
  if (static_cast<int64_t>(chunk.getIndex()) != index)
    return chunk.emitOpError()
           << "expects chunks in order of their number, " << index << ", got "
           << static_cast<int64_t>(chunk.getIndex());
  int rank = chunk.getRank();
  graph.chunks.push_back({rank, {}, false});
  graph.ranks = std::max(graph.ranks, rank + 1);
  for (auto [kind, name] : programsOf(chunk)) {
    graph.chunks[index].programs.insert(kind);
    readProgram(kind, symbols.lookup<func::FuncOp>(name.getValue()), index);
  }
  return success();
}

/// Values only pass between neighbours: later chunks get them by relay.
void GraphReader::addEdges() {
  auto name = [](int chunk) { return "c" + std::to_string(chunk); };
  int chunks = graph.chunks.size();
  for (int chunk = 0; chunk + 1 < chunks; ++chunk) {
    schedule::Edge edge{
        "act." + name(chunk) + "-" + name(chunk + 1), chunk, chunk + 1, {}};
    for (Program kind : {Program::Forward, Program::Evaluate, Program::Predict})
      if (activations.count({chunk, kind}))
        edge.programs.insert(kind);
    if (!edge.programs.empty())
      graph.edges.push_back(edge);
  }
  for (int chunk = 1; chunk < chunks; ++chunk)
    if (cotangents.count({chunk, Program::Backward}))
      graph.edges.push_back({"cot." + name(chunk) + "-" + name(chunk - 1),
                             chunk,
                             chunk - 1,
                             {Program::Backward}});
}

FailureOr<ChunkGraph> GraphReader::run() {
  for (ChunkOp chunk : module.getOps<ChunkOp>())
    if (failed(readChunk(chunk)))
      return failure();
  if (graph.chunks.empty())
    return module.emitError("expects chunks to schedule, got none");
  addEdges();
  for (auto &[name, input] : inputs)
    graph.inputs.push_back(input);
  if (Status status = schedule::verify(graph); !status)
    return emit(module, status.error());
  return graph;
}

FailureOr<ChunkGraph> smp::chunkGraphOf(ModuleOp module) {
  return GraphReader(module).run();
}

//===----------------------------------------------------------------------===//
// From actions to ops
//===----------------------------------------------------------------------===//

namespace {

/// Writes the list of one rank.
class ListWriter {
public:
  ListWriter(ModuleOp module, const ChunkGraph &graph, int rank,
             const schedule::RankSchedules &schedules)
      : builder(module.getContext()), module(module), graph(graph), rank(rank),
        schedules(schedules) {}

  void write(ScheduleOp schedule, ArrayRef<Action> actions) {
    builder.setInsertionPointToEnd(&schedule.getBody().front());
    auto list = RankScheduleOp::create(builder, module.getLoc(), rank);
    builder.setInsertionPointToStart(&list.getBody().emplaceBlock());
    for (const Action &action : actions)
      write(action);
  }

private:
  void write(const Action &action) {
    SmallVector<int64_t> waits(action.waits.begin(), action.waits.end());
    Location loc = module.getLoc();
    StringRef edge = action.edge < 0 ? StringRef()
                                     : StringRef(graph.edges[action.edge].name);
    switch (action.kind) {
    case ActionKind::Launch:
      LaunchOp::create(builder, loc, programOf(action),
                       builder.getI64IntegerAttr(action.chunk),
                       builder.getI64IntegerAttr(action.microbatch),
                       slotsOf(action), builder.getDenseI64ArrayAttr(waits));
      return;
    case ActionKind::Send:
      SendOp::create(builder, loc, edge, action.peer, action.microbatch,
                     action.slots.front().slot, waits);
      return;
    case ActionKind::Recv:
      RecvOp::create(builder, loc, edge, action.peer, action.microbatch,
                     action.slots.front().slot, waits);
      return;
    case ActionKind::Load:
      LoadOp::create(builder, loc, graph.inputs[action.input].name,
                     action.microbatch, action.slots.front().slot, waits);
      return;
    }
  }

  FlatSymbolRefAttr programOf(const Action &action) {
    std::string owner = schedule::isRankProgram(action.program)
                            ? "rank" + std::to_string(rank)
                            : "chunk" + std::to_string(action.chunk);
    return FlatSymbolRefAttr::get(
        builder.getContext(),
        owner + "_" + std::string(schedule::programName(action.program)));
  }

  DictionaryAttr slotsOf(const Action &action) {
    SmallVector<NamedAttribute> slots;
    for (const schedule::SlotUse &use : action.slots)
      slots.push_back(builder.getNamedAttr(
          schedule::arenaName(graph, schedules.arenas[use.arena].key),
          builder.getI64IntegerAttr(use.slot)));
    return builder.getDictionaryAttr(slots);
  }

  OpBuilder builder;
  ModuleOp module;
  const ChunkGraph &graph;
  int rank;
  const schedule::RankSchedules &schedules;
};

} // namespace

static void writeSchedule(ModuleOp module, const ChunkGraph &graph,
                          StringRef name,
                          ArrayRef<schedule::RankSchedules> ranks,
                          std::vector<Action> schedule::RankSchedules::*list) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto schedule = ScheduleOp::create(builder, module.getLoc(), name);
  schedule.getBody().emplaceBlock();
  for (auto [rank, schedules] : llvm::enumerate(ranks))
    ListWriter(module, graph, rank, schedules).write(schedule, schedules.*list);
}

LogicalResult smp::buildSchedules(ModuleOp module,
                                  const schedule::ScheduleOptions &options) {
  FailureOr<ChunkGraph> graph = chunkGraphOf(module);
  if (failed(graph))
    return failure();
  auto order = schedule::generateOrder(*graph, options);
  if (!order)
    return emit(module, order.error());
  auto ranks = schedule::lowerSchedules(*graph, *order, options.microbatches,
                                        options.accumulation);
  if (!ranks)
    return emit(module, ranks.error());
  if (Status proof = schedule::checkSchedules(
          *graph, *ranks, options.microbatches, options.accumulation);
      !proof)
    return emit(module, proof.error());
  using schedule::RankSchedules;
  writeSchedule(module, *graph, "train", *ranks, &RankSchedules::train);
  writeSchedule(module, *graph, "evaluate", *ranks, &RankSchedules::evaluate);
  writeSchedule(module, *graph, "predict", *ranks, &RankSchedules::predict);
  return success();
}

namespace {

struct SchedulePass : smp::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    schedule::ScheduleOptions options;
    auto kind = schedule::parseScheduleKind(pipeline);
    if (!kind) {
      getOperation().emitError(
          "expects a schedule simple, 1f1b or interleaved, got '")
          << pipeline << "'";
      return signalPassFailure();
    }
    options.kind = *kind;
    if (accumulation < 1) {
      getOperation().emitError("expects at least 1 batch of a step, got ")
          << int64_t(accumulation);
      return signalPassFailure();
    }
    options.microbatches = microbatches;
    options.accumulation = accumulation;
    if (activeMicrobatches != 0)
      options.activeMicrobatches = activeMicrobatches;
    if (failed(buildSchedules(getOperation(), options)))
      signalPassFailure();
  }
};

} // namespace
