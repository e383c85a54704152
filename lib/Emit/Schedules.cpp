//===- Schedules.cpp - The action lists of a job ---------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

#include <set>

using namespace mlir;
using namespace smp;
using namespace smp::emit;
using nlohmann::json;

namespace {

/// The slots that an action uses, by the name of the arena.
using SlotsByArena = std::vector<std::pair<std::string, int64_t>>;

std::string boundaryOf(StringRef edge) { return "boundary." + edge.str(); }

SlotsByArena slotsOf(LaunchOp op) {
  SlotsByArena slots;
  for (NamedAttribute slot : op.getSlots())
    slots.emplace_back(slot.getName().str(),
                       cast<IntegerAttr>(slot.getValue()).getInt());
  return slots;
}

/// What all transfers share.
struct Transfer {
  StringRef edge;
  int64_t peer, microbatch, slot;
};

std::optional<Transfer> transferOf(Operation *op) {
  auto read = [](auto transfer) -> Transfer {
    return {transfer.getEdge(), static_cast<int64_t>(transfer.getPeer()),
            static_cast<int64_t>(transfer.getMicrobatch()),
            static_cast<int64_t>(transfer.getSlot())};
  };
  if (auto send = dyn_cast<SendOp>(op))
    return read(send);
  if (auto recv = dyn_cast<RecvOp>(op))
    return read(recv);
  return std::nullopt;
}

class ScheduleWriter {
public:
  ScheduleWriter(const Programs &programs, const std::vector<RankArenas> &ranks,
                 int64_t rank, const std::vector<std::string> &inputs)
      : programs(programs), arenas(ranks[rank]), rank(rank), inputs(inputs) {
    // Tags are numbers of edges, the same on all ranks.
    std::set<std::string> edges;
    for (ScheduleOp schedule : ModuleOp(programs.module).getOps<ScheduleOp>())
      schedule.walk([&](Operation *op) {
        if (auto transfer = transferOf(op))
          edges.insert(transfer->edge.str());
      });
    for (const std::string &edge : edges)
      tags.try_emplace(edge, tags.size());
  }

  FailureOr<json> write(RankScheduleOp schedule) {
    json actions = json::array();
    for (Operation &op : schedule.getBody().front()) {
      FailureOr<json> action = writeAction(&op);
      if (failed(action))
        return failure();
      (*action)["id"] = actions.size();
      (*action)["waits"] =
          op.getAttrOfType<DenseI64ArrayAttr>("waits").asArrayRef().vec();
      actions.push_back(std::move(*action));
    }
    return actions;
  }

private:
  FailureOr<json> writeAction(Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      return writeLaunch(launch);
    if (auto transfer = transferOf(op))
      return writeTransfer(op, *transfer);
    return writeLoad(cast<LoadOp>(op));
  }

  FailureOr<json> writeLaunch(LaunchOp op) {
    auto program = llvm::find_if(programs.all, [&](const Program &candidate) {
      return func::FuncOp(candidate.function).getSymName() == op.getProgram();
    });
    if (program == programs.all.end())
      return op.emitOpError() << "expects a program of a chunk or rank, got '"
                              << op.getProgram() << "'";
    json slots = json::object();
    for (const auto &[name, slot] : slotsOf(op))
      if (arenas.has(name))
        slots[std::to_string(arenas.indexOf(name))] = slot;
    return json{{"kind", "launch"},
                {"program", program->name},
                {"chunk", program->chunk},
                {"microbatch", static_cast<int64_t>(op.getMicrobatch())},
                {"slots", slots}};
  }

  FailureOr<json> writeTransfer(Operation *op, const Transfer &transfer) {
    std::string name = boundaryOf(transfer.edge);
    if (!arenas.has(name))
      return op->emitOpError() << "expects an edge that the programs of rank "
                               << rank << " use, got '" << transfer.edge << "'";
    unsigned arena = arenas.indexOf(name);
    Place whole{arena, 0, arenas.arenas[arena].stride, true};
    return json{{"kind", isa<SendOp>(op) ? "send" : "recv"},
                {"edge", transfer.edge.str()},
                {"peer", transfer.peer},
                {"tag", tags.at(transfer.edge.str())},
                {"microbatch", transfer.microbatch},
                {"slot", transfer.slot},
                {"buffer", whole.operand()}};
  }

  FailureOr<json> writeLoad(LoadOp op) {
    auto input = llvm::find(inputs, op.getInput().str());
    if (input == inputs.end())
      return op.emitOpError()
             << "expects an input of the job, got '" << op.getInput() << "'";
    return json{{"kind", "load"},
                {"input", input - inputs.begin()},
                {"microbatch", static_cast<int64_t>(op.getMicrobatch())},
                {"slot", static_cast<int64_t>(op.getSlot())}};
  }

  const Programs &programs;
  const RankArenas &arenas;
  int64_t rank;
  const std::vector<std::string> &inputs;
  std::map<std::string, int64_t> tags;
};

} // namespace

/// The arena and slot that every action of a rank names.
static SlotsByArena usedSlots(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return slotsOf(launch);
  if (auto transfer = transferOf(op))
    return {{boundaryOf(transfer->edge), transfer->slot}};
  auto load = cast<LoadOp>(op);
  return {{"input." + load.getInput().str(), load.getSlot()}};
}

/// `used` of each arena is that of one schedule.
static void countUse(Operation *op, const Extents &extents, RankArenas &arenas,
                     unsigned schedule) {
  auto reach = [&](ArenaInfo &arena, int64_t end) {
    arena.used[schedule] = std::max(arena.used[schedule], end);
  };
  for (const auto &[name, slot] : usedSlots(op))
    if (arenas.has(name)) {
      ArenaInfo &arena = arenas.arenas[arenas.indexOf(name)];
      arena.slots = std::max(arena.slots, slot + 1);
      reach(arena, arena.stride * (slot + 1));
    }
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return;
  if (auto found = extents.find(launch.getProgram().str());
      found != extents.end())
    for (auto [arena, end] : found->second)
      reach(arenas.arenas[arena], end);
}

LogicalResult emit::countUse(const Programs &programs, const Extents &extents,
                             std::vector<RankArenas> &ranks) {
  for (ScheduleOp schedule : ModuleOp(programs.module).getOps<ScheduleOp>()) {
    // The verifier allows no other names.
    unsigned index = llvm::find(scheduleNames, schedule.getSymName()) -
                     scheduleNames.begin();
    for (auto list : schedule.getBody().front().getOps<RankScheduleOp>()) {
      if (list.getRank() >= ranks.size())
        return list.emitOpError() << "expects a rank below " << ranks.size()
                                  << ", got " << list.getRank();
      for (Operation &op : list.getBody().front())
        ::countUse(&op, extents, ranks[list.getRank()], index);
    }
  }
  return success();
}

FailureOr<json> emit::schedulesToJson(const Programs &programs,
                                      const std::vector<RankArenas> &ranks,
                                      int64_t rank,
                                      const std::vector<std::string> &inputs) {
  ScheduleWriter writer(programs, ranks, rank, inputs);
  json result = json::object();
  for (StringRef name : scheduleNames)
    result[name.str()] = json::array();
  for (ScheduleOp schedule : ModuleOp(programs.module).getOps<ScheduleOp>())
    for (auto list : schedule.getBody().front().getOps<RankScheduleOp>()) {
      if (static_cast<int64_t>(list.getRank()) != rank)
        continue;
      FailureOr<json> actions = writer.write(list);
      if (failed(actions))
        return failure();
      result[schedule.getSymName().str()] = std::move(*actions);
    }
  return result;
}
