//===- ScheduleOps.cpp - Checks of schedules and their actions ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be told from the lists alone and from the programs that they name.
// That they run to their end within the slots is proved where they are made
// (smp/Schedule/Checker.h).
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "llvm/ADT/DenseMap.h"
#include <map>

using namespace mlir;
using namespace smp;

//===----------------------------------------------------------------------===//
// ScheduleOp: its lists
//===----------------------------------------------------------------------===//

/// Checks that lists are those of the ranks 0, 1, ...
static LogicalResult verifyLists(ScheduleOp schedule) {
  int64_t rank = 0;
  for (Operation &op : schedule.getBody().front()) {
    auto list = dyn_cast<RankScheduleOp>(op);
    if (!list)
      return op.emitOpError() << "expects to stand in a 'smp.rank_schedule', "
                              << "got '" << schedule->getName() << "'";
    if (int64_t(list.getRank()) != rank)
      return list.emitOpError() << "expects the list of rank " << rank
                                << ", got that of rank " << list.getRank();
    ++rank;
  }
  return success();
}

namespace {

/// What goes from one rank to another, as one side lists it.
struct Transfer {
  Operation *op;
  StringRef edge;
  int64_t microbatch;
};

/// The transfers of one side, by the ranks from and to which they go.
using Channels = std::map<std::pair<int64_t, int64_t>, std::vector<Transfer>>;

} // namespace

static LogicalResult verifyChannel(int64_t from, int64_t to,
                                   ArrayRef<Transfer> sent,
                                   ArrayRef<Transfer> received) {
  for (auto [out, in] : llvm::zip(sent, received)) {
    if (out.edge == in.edge && out.microbatch == in.microbatch)
      continue;
    InFlightDiagnostic diagnostic =
        in.op->emitOpError()
        << "expects what rank " << from << " sends next, '" << out.edge
        << "' of microbatch " << out.microbatch << ", got '" << in.edge
        << "' of microbatch " << in.microbatch;
    diagnostic.attachNote(out.op->getLoc()) << "sent here";
    return diagnostic;
  }
  if (sent.size() > received.size())
    return sent[received.size()].op->emitOpError()
           << "expects rank " << to << " to receive it, got no such action";
  if (received.size() > sent.size())
    return received[sent.size()].op->emitOpError()
           << "expects rank " << from << " to send it, got no such action";
  return success();
}

static LogicalResult verifyTransfers(ScheduleOp schedule) {
  Channels sent, received;
  for (auto list : schedule.getBody().getOps<RankScheduleOp>()) {
    int64_t rank = list.getRank();
    for (auto send : list.getBody().getOps<SendOp>())
      sent[{rank, int64_t(send.getPeer())}].push_back(
          {send, send.getEdge(), int64_t(send.getMicrobatch())});
    for (auto recv : list.getBody().getOps<RecvOp>())
      received[{int64_t(recv.getPeer()), rank}].push_back(
          {recv, recv.getEdge(), int64_t(recv.getMicrobatch())});
  }
  for (const auto &[ranks, transfers] : received)
    sent[ranks]; // Also channels in which nothing is sent.
  for (const auto &[ranks, transfers] : sent)
    if (failed(verifyChannel(ranks.first, ranks.second, transfers,
                             received[ranks])))
      return failure();
  return success();
}

LogicalResult ScheduleOp::verifyRegions() {
  StringRef name = getSymName();
  if (name != "train" && name != "evaluate" && name != "predict")
    return emitOpError() // schedule_c1
           << "expects a name train, evaluate or predict, got '" << name << "'";
  if (failed(verifyLists(*this))) // schedule_c2
    return failure();
  return verifyTransfers(*this); // schedule_c3
}

//===----------------------------------------------------------------------===//
// ScheduleOp: the programs that it launches
//===----------------------------------------------------------------------===//

/// The rank of each program, by its name and its chunk, which is -1 for the
/// programs of a rank.
using RankOfProgram = llvm::DenseMap<std::pair<StringRef, int64_t>, int64_t>;

static RankOfProgram ranksOfPrograms(Region &module) {
  RankOfProgram ranks;
  for (auto chunk : module.getOps<ChunkOp>())
    for (std::optional<StringRef> name :
         {chunk.getCount(), std::optional(chunk.getForward()),
          chunk.getBackward(), chunk.getEvaluate(), chunk.getPredict()})
      if (name)
        ranks[{*name, int64_t(chunk.getIndex())}] = chunk.getRank();
  for (auto rank : module.getOps<RankOp>())
    for (StringRef name : {rank.getBeginStep(), rank.getUpdate()})
      ranks[{name, -1}] = rank.getIndex();
  return ranks;
}

LogicalResult ScheduleOp::verifySymbolUses(SymbolTableCollection &) {
  RankOfProgram ranks = ranksOfPrograms(*(*this)->getParentRegion());
  for (auto list : getBody().getOps<RankScheduleOp>())
    for (auto launch : list.getBody().getOps<LaunchOp>()) {
      int64_t chunk = launch.getChunk();
      auto found = ranks.find({launch.getProgram(), chunk});
      if (found == ranks.end()) // launch_c1
        return launch.emitOpError()
               << "expects a program of "
               << (chunk == -1 ? "a rank" : "chunk " + std::to_string(chunk))
               << ", got " << launch.getProgramAttr();
      if (found->second != int64_t(list.getRank())) // launch_c2
        return launch.emitOpError()
               << "expects a program that belongs to rank " << list.getRank()
               << ", got one of rank " << found->second;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// RankScheduleOp
//===----------------------------------------------------------------------===//

LogicalResult RankScheduleOp::verifyRegions() {
  for (auto [index, op] : llvm::enumerate(getBody().front())) {
    auto waits = op.getAttrOfType<DenseI64ArrayAttr>("waits");
    if (!op.hasTrait<OpTrait::HasParent<RankScheduleOp>::Impl>() || !waits)
      return op.emitOpError() // rank_schedule_c1
             << "expects to stand outside of a list of actions, got '"
             << (*this)->getName() << "'";
    for (int64_t wait : waits.asArrayRef())
      if (wait < 0 || wait >= int64_t(index)) // rank_schedule_c2
        return op.emitOpError()
               << "expects to wait for actions before it, which is action "
               << index << ", got " << wait;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  if (failed(verifyNotNegative(*this, "microbatch", int64_t(getMicrobatch()))))
    return failure();                      // launch_c3
  for (NamedAttribute slot : getSlots()) { // launch_c4
    auto number = dyn_cast<IntegerAttr>(slot.getValue());
    if (!number || number.getInt() < 0)
      return emitOpError() << "expects a slot of '" << slot.getName().getValue()
                           << "' that is an integer and not negative, got "
                           << slot.getValue();
  }
  return success();
}

/// Checks the peer of a transfer: a rank of the schedule, and another one.
static LogicalResult verifyPeer(Operation *op, int64_t peer) {
  auto list = cast<RankScheduleOp>(op->getParentOp());
  int64_t ranks = llvm::range_size(*list->getBlock());
  if (peer < 0 || peer >= ranks || peer == int64_t(list.getRank()))
    return op->emitOpError()
           << "expects another one of " << ranks << " ranks as peer of rank "
           << list.getRank() << ", got " << peer;
  return success();
}

static LogicalResult verifyPlace(Operation *op, int64_t microbatch,
                                 int64_t slot) {
  if (failed(verifyNotNegative(op, "microbatch", microbatch)))
    return failure();
  return verifyNotNegative(op, "slot", slot);
}

LogicalResult SendOp::verify() {
  if (failed(verifyPeer(*this, getPeer()))) // send_c1
    return failure();
  return verifyPlace(*this, getMicrobatch(), getSlot()); // send_c2
}

LogicalResult RecvOp::verify() {
  if (failed(verifyPeer(*this, getPeer()))) // recv_c1
    return failure();
  return verifyPlace(*this, getMicrobatch(), getSlot()); // recv_c2
}

LogicalResult LoadOp::verify() {
  return verifyPlace(*this, getMicrobatch(), getSlot()); // load_c1
}
