//===- ImportShape.cpp - Import of views and permutations -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;
using pt2::SizeExpr;

/// Every view whose result has the operand's elements in the same order.
static LogicalResult importReshape(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  const Shape &shape = n.resultShape();
  if (elementsOf(operand.shape) != elementsOf(shape))
    return n.refuse("of shape " + shapeText(operand.shape) + " to " +
                    shapeText(shape));
  return n.give(n.reshape(operand, shape));
}

static LogicalResult importExpand(NodeImporter &n) {
  Tensor result = n.broadcast(n.tensor("self"), n.resultShape());
  if (n.refused())
    return failure();
  return n.give(result);
}

static LogicalResult importBroadcastTensors(NodeImporter &n) {
  for (auto [index, tensor] : llvm::enumerate(n.tensors("tensors"))) {
    Tensor result = n.broadcast(tensor, n.resultShape(index));
    if (n.refused() || failed(n.give(result, index)))
      return failure();
  }
  return success();
}

static LogicalResult importPermute(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  SmallVector<int64_t> permutation;
  SmallVector<bool> seen(operand.rank(), false);
  for (int64_t dim : n.integers("dims")) {
    permutation.push_back(n.checkedDim(dim, operand.rank()));
    if (n.refused() || std::exchange(seen[permutation.back()], true))
      return n.refuse("with dims that are no permutation");
  }
  if (int64_t(permutation.size()) != operand.rank())
    return n.refuse("with dims that are no permutation");
  return n.give(n.transpose(operand, permutation));
}

static LogicalResult importTranspose(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  if (operand.rank() == 0)
    return n.give(operand);
  int64_t a = n.dim("dim0", 0, operand.rank());
  int64_t b = n.dim("dim1", 0, operand.rank());
  if (n.refused())
    return failure();
  return n.give(n.swapDims(operand, a, b));
}

/// The last two dims swapped.
static LogicalResult importMatrixTranspose(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  if (operand.rank() < 2)
    return n.give(operand);
  return n.give(n.swapDims(operand, operand.rank() - 2, operand.rank() - 1));
}

/// `repeats[i]` copies of the operand along each dim, new dims in front.
static LogicalResult importRepeat(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  const Shape &result = n.resultShape();
  int64_t added = int64_t(result.size()) - operand.rank();
  if (added < 0)
    return n.refuse("with fewer repeats than dims");
  // [a, b] repeated (m, n) is [a, b] as [1, a, 1, b], then [m, a, n, b].
  Shape unit, full;
  SmallVector<int64_t> places;
  for (auto [dim, size] : llvm::enumerate(result)) {
    SizeExpr own =
        int64_t(dim) < added ? SizeExpr(1) : operand.shape[dim - added];
    std::optional<SizeExpr> times = size.multipleOf(own);
    if (own == SizeExpr(1))
      times = size;
    if (!times)
      return n.refuse("to shape " + shapeText(result));
    full.push_back(*times);
    full.push_back(own);
    unit.emplace_back(1);
    unit.push_back(own);
    places.push_back(2 * dim);
    places.push_back(2 * dim + 1);
  }
  Tensor repeated = n.expand(n.reshape(operand, unit), full, places);
  return n.give(n.reshape(repeated, result));
}

/// Each place of a dim repeated in place.
static LogicalResult importRepeatInterleave(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t times = n.integer("repeats", 1);
  int64_t dim = n.dim("dim", 0, operand.rank());
  if (!n.isGiven("dim") || n.refused() || times < 1)
    return n.refuse("without a dim or a positive number of repeats");
  Shape unit = operand.shape;
  unit.insert(unit.begin() + dim + 1, 1);
  Shape full = unit;
  full[dim + 1] = times;
  SmallVector<int64_t> places =
      llvm::to_vector(llvm::seq<int64_t>(0, unit.size()));
  Tensor repeated = n.expand(n.reshape(operand, unit), full, places);
  return n.give(n.reshape(repeated, n.resultShape()));
}

ArrayRef<ImportRule> smp::shapeRules() {
  static const ImportRule rules[] = {
      {"aten.view.default", importReshape, "self"},
      {"aten.reshape.default", importReshape, "self"},
      {"aten._unsafe_view.default", importReshape, "self"},
      {"aten.view_as.default", importReshape, "self"},
      {"aten.reshape_as.default", importReshape, "self"},
      {"aten.ravel.default", importReshape, "self"},
      {"aten.flatten.using_ints", importReshape, "self"},
      {"aten.unflatten.int", importReshape, "self"},
      {"aten.unsqueeze.default", importReshape, "self"},
      {"aten.squeeze.default", importReshape, "self"},
      {"aten.squeeze.dim", importReshape, "self"},
      {"aten.squeeze.dims", importReshape, "self"},
      {"aten.expand.default", importExpand, "self"},
      {"aten.expand_as.default", importExpand, "self"},
      {"aten.broadcast_to.default", importExpand, "self"},
      {"aten.broadcast_tensors.default", importBroadcastTensors, "tensors"},
      {"aten.permute.default", importPermute, "self"},
      {"aten.transpose.int", importTranspose, "self"},
      {"aten.t.default", importMatrixTranspose, "self"},
      {"aten.mT.default", importMatrixTranspose, "self"},
      {"aten.mH.default", importMatrixTranspose, "self"},
      {"aten.adjoint.default", importMatrixTranspose, "self"},
      {"aten.repeat.default", importRepeat, "self"},
      {"aten.tile.default", importRepeat, "self"},
      {"aten.repeat_interleave.self_int", importRepeatInterleave, "self"},
  };
  return rules;
}
