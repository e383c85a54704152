//===- DistributionSemantics.cpp - Changes of layout and collectives -----===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

/// The axis of the grid that an attribute names, with its restriction.
static AxisGroup::Member memberOf(AxisAttr axis) {
  std::vector<int> positions(axis.getMembers().begin(),
                             axis.getMembers().end());
  return {*parseAxis(std::string_view(axis.getName())), std::move(positions)};
}

static AxisGroup groupOf(ArrayRef<AxisAttr> axes) {
  AxisGroup group;
  for (AxisAttr axis : axes)
    group.axes.push_back(memberOf(axis));
  return group;
}

static Tensor total(Operands contributions) {
  Tensor result = contributions.front();
  for (const Tensor &contribution : contributions.drop_front())
    result = sum(result, contribution);
  return result;
}

/// The axes that a reshard changes, each with its two placements.
static SmallVector<std::pair<AxisPlacementAttr, AxisPlacementAttr>>
changesOf(ReshardOp op) {
  SmallVector<std::pair<AxisPlacementAttr, AxisPlacementAttr>> changes;
  auto placementOn = [](LayoutAttr layout, AxisAttr axis) {
    for (AxisPlacementAttr placement : layout.getPlacements())
      if (placement.getAxis() == axis)
        return placement;
    return AxisPlacementAttr::get(axis.getContext(), axis,
                                  Placement::Replicated, 0);
  };
  for (AxisPlacementAttr from : op.getFrom().getPlacements())
    if (auto to = placementOn(op.getTo(), from.getAxis()); to != from)
      changes.push_back({from, to});
  for (AxisPlacementAttr to : op.getTo().getPlacements())
    if (auto from = placementOn(op.getFrom(), to.getAxis());
        from.getPlacement() == Placement::Replicated && from != to)
      changes.push_back({from, to});
  return changes;
}

/// Brings the values of all members over one axis to replicated, or from there
/// to another placement. Members that differ on other axes are apart.
static Tensor changeAxis(Operands held, ArrayRef<Coordinate> members,
                         size_t self, AxisPlacementAttr from,
                         AxisPlacementAttr to) {
  Axis axis = *parseAxis(std::string_view(from.getAxis().getName()));
  auto alongAxis = [&](Coordinate coordinate) {
    for (Axis other : {Axis::PP, Axis::TP, Axis::RDP})
      if (other != axis && coordinate[other] != members[self][other])
        return false;
    return true;
  };
  Tensor value = held[self];
  bool first = true;
  for (auto [contribution, member] : llvm::zip_equal(held, members)) {
    if (!alongAxis(member))
      continue;
    if (from.getPlacement() == Placement::Partial)
      value = first ? contribution : sum(value, contribution);
    else if (from.getPlacement() == Placement::Owned &&
             member[axis] == from.getArgument())
      value = contribution;
    if (first && to.getPlacement() == Placement::Partial &&
        member != members[self])
      value = map(value, [](auto element) { return decltype(element){0}; });
    first = false;
  }
  return value;
}

namespace {

struct ReshardModel
    : CollectiveOpInterface::ExternalModel<ReshardModel, ReshardOp> {
  AxisGroup getParticipants(Operation *op) const {
    SmallVector<AxisAttr> axes;
    for (auto [from, to] : changesOf(cast<ReshardOp>(op)))
      axes.push_back(from.getAxis());
    return groupOf(axes);
  }

  FailureOr<Tensor> combine(Operation *op, ArrayRef<Tensor> contributions,
                            ArrayRef<Coordinate> members,
                            size_t position) const {
    SmallVector<Tensor> held(contributions);
    for (auto [from, to] : changesOf(cast<ReshardOp>(op))) {
      if (from.getPlacement() == Placement::Split ||
          to.getPlacement() == Placement::Split)
        return op->emitOpError("expects no split over ranks, got ")
               << from << " to " << to;
      SmallVector<Tensor> changed;
      for (size_t self = 0; self < members.size(); ++self)
        changed.push_back(changeAxis(held, members, self, from, to));
      held = std::move(changed);
    }
    return held[position];
  }
};

struct AllReduceModel
    : CollectiveOpInterface::ExternalModel<AllReduceModel, AllReduceOp> {
  AxisGroup getParticipants(Operation *op) const {
    return groupOf(cast<AllReduceOp>(op).getGroup().getAxes());
  }
  FailureOr<Tensor> combine(Operation *, ArrayRef<Tensor> contributions,
                            ArrayRef<Coordinate>, size_t) const {
    return total(contributions);
  }
};

struct BroadcastModel
    : CollectiveOpInterface::ExternalModel<BroadcastModel, BroadcastOp> {
  AxisGroup getParticipants(Operation *op) const {
    return groupOf(cast<BroadcastOp>(op).getGroup().getAxes());
  }
  FailureOr<Tensor> combine(Operation *op, ArrayRef<Tensor> contributions,
                            ArrayRef<Coordinate>, size_t) const {
    int64_t root = cast<BroadcastOp>(op).getRoot();
    int64_t size = contributions.size();
    if (root < 0 || root >= size)
      return op->emitOpError("expects a root below the group's size ")
             << size << ", got " << root;
    return contributions[root];
  }
};

} // namespace

static FailureOr<Tensor> evaluate(AxisIndexOp op, Operands, Context &context) {
  auto axis =
      static_cast<int>(*parseAxis(std::string_view(op.getAxis().getName())));
  int64_t position = context.step.axis[axis];
  ArrayRef<int64_t> members = op.getAxis().getMembers();
  if (members.empty())
    return Tensor::index(position);
  const auto *member = llvm::find(members, position);
  if (member == members.end())
    return op.emitOpError("expects a rank at a position in ")
           << op.getAxis() << ", got position " << position;
  return Tensor::index(member - members.begin());
}

void attachDistributionSemantics(MLIRContext *context) {
  attach<AxisIndexOp>(context);
  ReshardOp::attachInterface<ReshardModel>(*context);
  AllReduceOp::attachInterface<AllReduceModel>(*context);
  BroadcastOp::attachInterface<BroadcastModel>(*context);
}

} // namespace smp::interpret
