//===- VerifySchedule.cpp - Proves the schedules of a module --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads `smp.schedule` ops back into lists of actions, whoever wrote them, and
// gives them to the checker.
//
//===----------------------------------------------------------------------===//

#include "smp/Schedule/BuildSchedule.h"
#include "smp/Schedule/Checker.h"
#include "smp/Schedule/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace smp;
using schedule::Action;
using schedule::ActionKind;
using schedule::ArenaKey;
using schedule::ArenaKind;
using schedule::ChunkGraph;
using schedule::Program;

namespace smp {
#define GEN_PASS_DEF_VERIFYSCHEDULEPASS
#include "smp/Schedule/Passes.h.inc"
} // namespace smp

namespace {

/// What the names in the lists mean.
class Names {
public:
  Names(ModuleOp module, const ChunkGraph &graph);

  llvm::StringMap<Program> programs;
  llvm::StringMap<int> edges, inputs;
  llvm::StringMap<ArenaKey> arenas;
};

/// The list of one rank. Arenas appear in the order of their first use, with
/// as many slots as are used.
class ListReader {
public:
  explicit ListReader(const Names &names) : names(names) {}

  LogicalResult read(RankScheduleOp list);
  schedule::RankList get() const { return {actions, arenas}; }
  int64_t microbatches() const { return last + 1; }

private:
  LogicalResult readLaunch(LaunchOp op, Action &action);
  LogicalResult readTransfer(Operation *op, Action &action);
  LogicalResult readLoad(LoadOp op, Action &action);
  LogicalResult readAction(Operation *op, Action &action);
  void use(Action &action, ArenaKey key, int64_t slot);

  const Names &names;
  std::vector<Action> actions;
  std::vector<schedule::SlottedArena> arenas;
  int64_t last = -1;
};

} // namespace

Names::Names(ModuleOp module, const ChunkGraph &graph) {
  for (ChunkOp chunk : module.getOps<ChunkOp>())
    for (auto [kind, name] :
         {std::pair(Program::Count, chunk.getCountAttr()),
          std::pair(Program::Forward, chunk.getForwardAttr()),
          std::pair(Program::Backward, chunk.getBackwardAttr()),
          std::pair(Program::Evaluate, chunk.getEvaluateAttr()),
          std::pair(Program::Predict, chunk.getPredictAttr())})
      if (name)
        programs[name.getValue()] = kind;
  for (RankOp rank : module.getOps<RankOp>()) {
    programs[rank.getBeginStep()] = Program::BeginStep;
    programs[rank.getUpdate()] = Program::Update;
  }
  auto add = [&](ArenaKind kind, size_t index) {
    ArenaKey key{kind, static_cast<int>(index)};
    arenas[schedule::arenaName(graph, key)] = key;
  };
  for (size_t chunk = 0; chunk < graph.chunks.size(); ++chunk)
    add(ArenaKind::Stash, chunk);
  for (auto [index, edge] : llvm::enumerate(graph.edges)) {
    edges[edge.name] = index;
    add(ArenaKind::Boundary, index);
  }
  for (auto [index, input] : llvm::enumerate(graph.inputs)) {
    inputs[input.name] = index;
    add(ArenaKind::Input, index);
  }
}

void ListReader::use(Action &action, ArenaKey key, int64_t slot) {
  auto known = llvm::find_if(
      arenas, [&](const auto &arena) { return arena.key == key; });
  if (known == arenas.end()) {
    arenas.push_back({key, 0});
    known = std::prev(arenas.end());
  }
  known->slots = std::max(known->slots, slot + 1);
  action.slots.push_back({static_cast<int>(known - arenas.begin()), slot});
}

LogicalResult ListReader::readLaunch(LaunchOp op, Action &action) {
  auto program = names.programs.find(op.getProgram());
  if (program == names.programs.end())
    return op.emitOpError() << "expects a program of a chunk or rank, got "
                            << op.getProgramAttr();
  action.kind = ActionKind::Launch;
  action.program = program->second;
  action.chunk = static_cast<int>(op.getChunk());
  action.microbatch = op.getMicrobatch();
  for (NamedAttribute slot : op.getSlots()) {
    auto arena = names.arenas.find(slot.getName().strref());
    if (arena == names.arenas.end())
      return op.emitOpError()
             << "expects slots of arenas of the module's chunks, got one of '"
             << slot.getName().strref() << "'";
    use(action, arena->second,
        cast<IntegerAttr>(slot.getValue()).getValue().getSExtValue());
  }
  return success();
}

LogicalResult ListReader::readTransfer(Operation *op, Action &action) {
  auto number = [&](StringRef name) {
    return op->getAttrOfType<IntegerAttr>(name).getInt();
  };
  StringRef edge = op->getAttrOfType<StringAttr>("edge").getValue();
  auto found = names.edges.find(edge);
  if (found == names.edges.end())
    return op->emitOpError()
           << "expects an edge between chunks of the module, got '" << edge
           << "'";
  action.kind = isa<SendOp>(op) ? ActionKind::Send : ActionKind::Recv;
  action.microbatch = number("microbatch");
  action.peer = static_cast<int>(number("peer"));
  action.edge = found->second;
  use(action, {ArenaKind::Boundary, found->second}, number("slot"));
  return success();
}

LogicalResult ListReader::readLoad(LoadOp op, Action &action) {
  auto found = names.inputs.find(op.getInput());
  if (found == names.inputs.end())
    return op.emitOpError() << "expects an input of the module's chunks, got '"
                            << op.getInput() << "'";
  action.kind = ActionKind::Load;
  action.microbatch = op.getMicrobatch();
  action.input = found->second;
  use(action, {ArenaKind::Input, found->second}, op.getSlot());
  return success();
}

LogicalResult ListReader::readAction(Operation *op, Action &action) {
  for (int64_t wait :
       op->getAttrOfType<DenseI64ArrayAttr>("waits").asArrayRef())
    action.waits.push_back(static_cast<int>(wait));
  if (auto launch = dyn_cast<LaunchOp>(op))
    return readLaunch(launch, action);
  if (auto load = dyn_cast<LoadOp>(op))
    return readLoad(load, action);
  return readTransfer(op, action);
}

LogicalResult ListReader::read(RankScheduleOp list) {
  for (Operation &op : list.getBody().front()) {
    if (failed(readAction(&op, actions.emplace_back())))
      return failure();
    last = std::max(last, actions.back().microbatch);
  }
  return success();
}

static LogicalResult verifySchedule(ScheduleOp op, const ChunkGraph &graph,
                                    const Names &names) {
  std::vector<ListReader> readers;
  std::vector<schedule::RankList> lists;
  int64_t microbatches = 0;
  for (auto list : op.getBody().front().getOps<RankScheduleOp>()) {
    if (failed(readers.emplace_back(names).read(list)))
      return failure();
    microbatches = std::max(microbatches, readers.back().microbatches());
  }
  for (const ListReader &reader : readers)
    lists.push_back(reader.get());
  auto pass = op.getSymName() == "train"      ? schedule::Pass::Train
              : op.getSymName() == "evaluate" ? schedule::Pass::Evaluate
                                              : schedule::Pass::Predict;
  Status proof = schedule::checkSchedule(graph, lists, pass, microbatches);
  if (proof)
    return success();
  // Not by the op, which would be printed whole.
  InFlightDiagnostic diagnostic = emitError(op.getLoc(), proof.error().message);
  if (!proof.error().note.empty())
    diagnostic.attachNote() << proof.error().note;
  return diagnostic;
}

LogicalResult smp::verifySchedules(ModuleOp module) {
  FailureOr<ChunkGraph> graph = chunkGraphOf(module);
  if (failed(graph))
    return failure();
  Names names(module, *graph);
  bool any = false;
  for (ScheduleOp schedule : module.getOps<ScheduleOp>()) {
    any = true;
    if (failed(verifySchedule(schedule, *graph, names)))
      return failure();
  }
  if (!any)
    return module.emitError("expects schedules to verify, got none");
  return success();
}

namespace {
struct VerifySchedulePass
    : smp::impl::VerifySchedulePassBase<VerifySchedulePass> {
  void runOnOperation() override {
    if (failed(verifySchedules(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
