//===- DistributionOps.cpp - Checks and folds of distribution ops -*- C++
//-*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/DistributionOps.cpp.inc"

void SmpDialect::registerDistributionOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/DistributionOps.cpp.inc"
      >();
}

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  return getFrom() == getTo() ? OpFoldResult(getOperand()) : OpFoldResult();
}

LogicalResult ReshardOp::verify() {
  int64_t rank = getType().getRank();
  for (LayoutAttr layout : {getFrom(), getTo()})
    for (AxisPlacementAttr placed : layout.getPlacements()) // reshard_c1
      if (placed.getPlacement() == Placement::Split &&
          (placed.getArgument() < 0 || placed.getArgument() >= rank))
        return emitOpError() << "expects a split along a dim in [0, " << rank
                             << "), got " << placed.getArgument();
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (int64_t(getRoot()) < 0) // broadcast_c1
    return emitOpError() << "expects a root that is not negative, got "
                         << int64_t(getRoot());
  uint64_t size = 1;
  for (AxisAttr axis : getGroup().getAxes())
    size *= axis.getMembers().size(); // 0 where an axis is whole
  if (size > 0 && getRoot() >= size)  // broadcast_c2
    return emitOpError() << "expects a root below the group's size " << size
                         << ", got " << getRoot();
  return success();
}
