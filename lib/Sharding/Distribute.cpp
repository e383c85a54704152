//===- Distribute.cpp - From layouts to collectives -----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Until here a program is in global view: a value is one thing, and a reshard
// says that it lies differently. This pass makes it a program of one rank.
// Before and after:
//
//   %1 = smp.reshard %0 from <pp{0, 3} = owned(3)> to <> because "..."
//   %1 = smp.broadcast %0 over <pp{0, 3}> root 1 because "..."
//
// Collectives are not moved over sums, though the sum of two all_reduces is one
// all_reduce of a sum: a tied parameter's gradients are summed over replicas
// name by name, so that it does not matter on how many stages the names are.
//
//===----------------------------------------------------------------------===//

#include "smp/Sharding/Distribute.h"

#include "smp/Sharding/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_DISTRIBUTEPASS
#include "smp/Sharding/Passes.h.inc"
} // namespace smp

namespace {
/// The collectives that a change of layout takes.
struct Change {
  SmallVector<AxisAttr> summed;
  struct Broadcast {
    AxisAttr axis;
    int64_t root;
  };
  SmallVector<Broadcast> broadcasts;
};
} // namespace

static AxisPlacementAttr find(LayoutAttr layout, StringRef axis) {
  for (AxisPlacementAttr placed : layout.getPlacements())
    if (placed.getAxis().getName() == axis)
      return placed;
  return {};
}

/// Whether only one rank is on the axis, so that placements mean nothing.
static bool isTrivial(AxisAttr axis, ModuleOp module) {
  if (axis.getName() == "tp" || axis.getMembers().size() == 1)
    return true;
  auto degree = module->getAttrOfType<IntegerAttr>(kPipelineDegreeAttr);
  return axis.getName() == "pp" && degree && degree.getInt() == 1;
}

/// Position of the owner among the ranks of the axis.
static int64_t rootOf(AxisPlacementAttr placed) {
  ArrayRef<int64_t> members = placed.getAxis().getMembers();
  if (members.empty())
    return placed.getArgument();
  return llvm::find(members, placed.getArgument()) - members.begin();
}

static FailureOr<Change> planChange(ReshardOp op, ModuleOp module) {
  Change change;
  for (AxisPlacementAttr to : op.getTo().getPlacements())
    if (!isTrivial(to.getAxis(), module) &&
        find(op.getFrom(), to.getAxis().getName()) != to)
      return op.emitError() << "expects a change of layout to replicated, got "
                            << op.getFrom() << " to " << op.getTo();
  for (AxisPlacementAttr from : op.getFrom().getPlacements()) {
    AxisAttr axis = from.getAxis();
    if (isTrivial(axis, module) || find(op.getTo(), axis.getName()) == from)
      continue;
    if (from.getPlacement() == Placement::Split)
      return op.emitError() << "expects a value that is not split over axis '"
                            << axis.getName() << "', got " << op.getFrom();
    if (from.getPlacement() == Placement::Partial) {
      change.summed.push_back(axis);
      continue;
    }
    change.broadcasts.push_back({axis, rootOf(from)});
  }
  return change;
}

/// A reshard of a reshard goes from the first layout to the last.
static void mergeChains(ModuleOp module) {
  module.walk([](ReshardOp op) {
    auto inner = op.getOperand().getDefiningOp<ReshardOp>();
    if (!inner || inner.getTo() != op.getFrom() || !inner->hasOneUse())
      return;
    op.getOperandMutable().assign(inner.getOperand());
    op.setFromAttr(inner.getFrom());
    inner.erase();
  });
}

/// Says as a remark which collective a reshard became, why, and its bytes.
static void explain(Operation *collective, GroupAttr group, StringAttr cause) {
  auto function = collective->getParentOfType<FunctionOpInterface>();
  auto remark = remark::analysis(
      collective->getLoc(),
      remark::RemarkOpts::name("collective")
          .category("distribute")
          .function(function ? function.getName() : StringRef()));
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << collective->getName() << " over " << group << " because "
     << cause.getValue();
  auto type = cast<RankedTensorType>(collective->getResult(0).getType());
  int64_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  remark << text << remark::metric("bytes", type.getNumElements() * width);
}

static LogicalResult lower(ReshardOp op, ModuleOp module) {
  FailureOr<Change> change = planChange(op, module);
  if (failed(change))
    return failure();
  OpBuilder builder(op);
  MLIRContext *context = op.getContext();
  Value value = op.getOperand();
  if (!change->summed.empty()) {
    auto group = GroupAttr::get(context, change->summed);
    value = AllReduceOp::create(builder, op.getLoc(), value, group,
                                op.getCauseAttr());
    explain(value.getDefiningOp(), group, op.getCauseAttr());
  }
  for (const Change::Broadcast &broadcast : change->broadcasts) {
    auto group = GroupAttr::get(context, {broadcast.axis});
    value = BroadcastOp::create(builder, op.getLoc(), value, group,
                                builder.getI64IntegerAttr(broadcast.root),
                                op.getCauseAttr());
    explain(value.getDefiningOp(), group, op.getCauseAttr());
  }
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

LogicalResult smp::distribute(ModuleOp module) {
  mergeChains(module);
  SmallVector<ReshardOp> reshards;
  module.walk([&](ReshardOp op) { reshards.push_back(op); });
  for (ReshardOp op : reshards)
    if (failed(lower(op, module)))
      return failure();
  return success();
}

namespace {
struct DistributePass : public smp::impl::DistributePassBase<DistributePass> {
  void runOnOperation() override {
    if (failed(distribute(getOperation())))
      signalPassFailure();
  }
};
} // namespace
