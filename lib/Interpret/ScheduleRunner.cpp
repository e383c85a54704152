//===- ScheduleRunner.cpp - Steps in the order of a schedule --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleRunner.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

void ScheduleRunner::addReplica(int rdp) {
  for (int pp = 0; pp < static_cast<int>(ranks.size()); ++pp)
    addRank({pp, 0, rdp}, std::make_unique<SlottedMemory>(model, canonical));
}

/// A schedule is made for a number of microbatches.
LogicalResult ScheduleRunner::checkMicrobatches() {
  int64_t scheduled = 0;
  schedule.walk([&](LaunchOp launch) {
    scheduled = std::max<int64_t>(scheduled, launch.getMicrobatch() + 1);
  });
  if (scheduled != options.microbatches())
    return schedule.emitOpError("expects a step of ")
           << scheduled << " microbatches, got " << options.microbatches();
  return success();
}

void ScheduleRunner::readLists() {
  progress.clear();
  channels.clear();
  for (VirtualRank &rank : virtualRanks) {
    Progress &mine = progress.emplace_back();
    for (auto list : schedule.getBody().getOps<RankScheduleOp>())
      if (static_cast<int>(list.getRank()) == rank.coordinate.pp)
        for (Operation &action : list.getBody().front())
          mine.actions.push_back(cast<ActionOpInterface>(action));
    mine.complete.assign(mine.actions.size(), false);
  }
}

bool ScheduleRunner::mayStart(const Progress &mine, size_t index) const {
  auto waits = mine.actions[index]->getAttrOfType<DenseI64ArrayAttr>("waits");
  for (int64_t wait : waits.asArrayRef())
    if (!mine.complete[wait])
      return false;
  ActionOpInterface action = mine.actions[index];
  std::string queue = action.getQueue();
  for (size_t earlier = 0; earlier < index && !queue.empty(); ++earlier) {
    ActionOpInterface before = mine.actions[earlier];
    if (!mine.complete[earlier] && before.getQueue() == queue)
      return false;
  }
  return true;
}

FailureOr<bool> ScheduleRunner::launch(size_t rank, LaunchOp action) {
  Progress &mine = progress[rank];
  mine.launch = {programNamed(action.getProgram()),
                 static_cast<int64_t>(action.getChunk()),
                 static_cast<int64_t>(action.getMicrobatch()),
                 action.getSlots()};
  FailureOr<FunctionRun> run = start(virtualRanks[rank], mine.launch);
  if (failed(run))
    return failure();
  mine.run.emplace(std::move(*run));
  return true;
}

FailureOr<bool> ScheduleRunner::load(size_t rank, LoadOp action) {
  RankMemory &memory = *virtualRanks[rank].memory;
  int64_t microbatch = action.getMicrobatch();
  FailureOr<Tensor> value = memory.loadInput(action.getInput(), microbatch);
  if (failed(value))
    return failure();
  memoryOf(rank).slot(("input." + action.getInput()).str(),
                      action.getSlot()) = {
      {{BindingKind::Input, action.getInput().str()},
       {microbatch, std::move(*value)}}};
  return true;
}

FailureOr<bool> ScheduleRunner::send(size_t rank, SendOp action) {
  std::string edge = action.getEdge().str();
  channels[{rank, peerOf(rank, action.getPeer())}].push_back(
      {edge, static_cast<int64_t>(action.getMicrobatch()),
       memoryOf(rank).slot("boundary." + edge, action.getSlot())});
  return true;
}

FailureOr<bool> ScheduleRunner::receive(size_t rank, RecvOp action) {
  auto &channel = channels[{peerOf(rank, action.getPeer()), rank}];
  if (channel.empty())
    return false;
  Message message = std::move(channel.front());
  channel.pop_front();
  if (message.edge != action.getEdge() ||
      message.microbatch != static_cast<int64_t>(action.getMicrobatch()))
    return action.emitOpError("expects edge '")
           << action.getEdge() << "', microbatch " << action.getMicrobatch()
           << ", got '" << message.edge << "', microbatch "
           << message.microbatch;
  memoryOf(rank).slot("boundary." + message.edge, action.getSlot()) =
      std::move(message.values);
  return true;
}

FailureOr<bool> ScheduleRunner::startActions(size_t rank) {
  Progress &mine = progress[rank];
  bool any = false;
  for (size_t index = 0; index < mine.actions.size(); ++index) {
    if (mine.complete[index] || !mayStart(mine, index))
      continue;
    bool immediate = mine.actions[index].isImmediate();
    if (!immediate && mine.run)
      continue;
    FailureOr<bool> started = mine.actions[index].start(*this, rank);
    if (failed(started))
      return failure();
    any |= *started;
    if (immediate)
      mine.complete[index] = *started;
    else
      mine.launched = index;
  }
  return any;
}

FailureOr<bool> ScheduleRunner::advanceLaunches() {
  SmallVector<RankRun> runs;
  for (auto [mine, rank] : llvm::zip_equal(progress, virtualRanks))
    if (mine.run)
      runs.push_back({&*mine.run, rank.coordinate});
  FailureOr<bool> passed = advanceTogether(runs, *grid);
  if (failed(passed))
    return failure();
  bool any = *passed;
  for (auto [mine, rank] : llvm::zip_equal(progress, virtualRanks)) {
    if (!mine.run || !mine.run->done())
      continue;
    if (failed(finish(rank, mine.launch, *mine.run)))
      return failure();
    mine.run.reset();
    mine.complete[mine.launched] = true;
    any = true;
  }
  return any;
}

LogicalResult ScheduleRunner::runPrograms() {
  if (failed(checkMicrobatches()))
    return failure();
  readLists();
  while (true) {
    bool any = false;
    for (size_t rank = 0; rank < virtualRanks.size(); ++rank) {
      FailureOr<bool> started = startActions(rank);
      if (failed(started))
        return failure();
      any |= *started;
    }
    FailureOr<bool> advanced = advanceLaunches();
    if (failed(advanced))
      return failure();
    if (any || *advanced)
      continue;
    for (Progress &mine : progress)
      if (auto open = llvm::find(mine.complete, false);
          open != mine.complete.end())
        return mine.actions[open - mine.complete.begin()].emitOpError(
            "expects to run at last, but waits for ever");
    return success();
  }
}
