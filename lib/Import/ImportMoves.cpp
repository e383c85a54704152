//===- ImportMoves.cpp - Import of moves that raw graphs have -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators that a decomposition takes to pieces: dims and elements moved.
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// [start, start + length) of a dim.
static LogicalResult importNarrow(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t dim = n.dim("dim", 0, operand.rank());
  int64_t start = n.integer("start", 0);
  if (n.refused())
    return failure();
  if (start == 0 && n.resultShape() == operand.shape)
    return n.give(operand);
  std::optional<int64_t> size = operand.shape[dim].constant();
  int64_t length = n.integer("length", 0);
  start += start < 0 ? size.value_or(0) : 0;
  if (!size || start < 0 || length < 0 || start > *size - length)
    return n.refuse("that cuts dim " + Twine(dim) + " of shape " +
                    shapeText(operand.shape));
  return n.give(n.slice(operand, dim, start, start + length));
}

/// Dims `source` go to the places `destination`, the others keep their order.
static LogicalResult importMoveDims(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  std::vector<int64_t> from = n.integers("source"),
                       to = n.integers("destination");
  SmallVector<int64_t> permutation(operand.rank(), -1), moved;
  if (from.size() != to.size())
    return n.refuse("with lists of different sizes");
  for (auto [source, destination] : llvm::zip(from, to)) {
    source = n.checkedDim(source, operand.rank());
    int64_t place = n.checkedDim(destination, operand.rank());
    if (n.refused() || llvm::is_contained(moved, source) ||
        std::exchange(permutation[place], source) != -1)
      return n.refuse("with dims that are no permutation");
    moved.push_back(source);
  }
  int64_t next = 0;
  for (int64_t &dim : permutation) {
    if (dim != -1)
      continue;
    while (llvm::is_contained(moved, next))
      ++next;
    dim = next++;
  }
  return n.give(n.transpose(operand, permutation));
}

static LogicalResult swap(NodeImporter &n, StringRef first, StringRef second) {
  Tensor operand = n.tensor("self");
  if (operand.rank() == 0)
    return n.give(operand);
  int64_t a = n.dim(first, 0, operand.rank());
  int64_t b = n.dim(second, 0, operand.rank());
  if (n.refused())
    return failure();
  return n.give(n.swapDims(operand, a, b));
}

static LogicalResult importSwapDims(NodeImporter &n) {
  return swap(n, "dim0", "dim1");
}

static LogicalResult importSwapAxes(NodeImporter &n) {
  return swap(n, "axis0", "axis1");
}

/// All dims in reverse order.
static LogicalResult importReverseDims(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, operand.rank())));
  return n.give(n.transpose(operand, dims));
}

/// The places of `dims` in reverse order, as they are when indexed by
/// size - 1 - i.
static LogicalResult importFlip(NodeImporter &n) {
  Tensor result = n.tensor("self");
  for (int64_t listed : n.integers("dims")) {
    int64_t dim = n.checkedDim(listed, result.rank());
    std::optional<int64_t> size = result.shape[dim].constant();
    if (n.refused() || !size)
      return n.refuse("of dim " + Twine(dim) +
                      ", whose size varies with the batch");
    SmallVector<Tensor> pieces;
    for (int64_t place = *size; place-- > 0;)
      pieces.push_back(n.slice(result, dim, place, place + 1));
    if (pieces.size() > 1)
      result = n.concat(pieces, dim);
  }
  return n.give(result);
}

/// Each place moved by `shifts`, what leaves at the end comes in at the front.
static LogicalResult importRoll(NodeImporter &n) {
  Tensor result = n.tensor("self");
  std::vector<int64_t> shifts = n.integers("shifts"), dims = n.integers("dims");
  if (dims.size() != shifts.size())
    return n.refuse("without a dim for each shift");
  for (auto [shift, listed] : llvm::zip(shifts, dims)) {
    int64_t dim = n.checkedDim(listed, result.rank());
    std::optional<int64_t> size = result.shape[dim].constant();
    if (n.refused() || !size)
      return n.refuse("of dim " + Twine(dim) +
                      ", whose size varies with the batch");
    int64_t moved = *size == 0 ? 0 : (shift % *size + *size) % *size;
    if (moved == 0)
      continue;
    Tensor tail = n.slice(result, dim, *size - moved, *size);
    result = n.concat({tail, n.slice(result, dim, 0, *size - moved)}, dim);
  }
  return n.give(result);
}

/// [N, C·r·r, H, W] as [N, C, H·r, W·r].
static LogicalResult importPixelShuffle(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t factor = n.integer("upscale_factor", 1);
  if (n.refused() || operand.rank() != 4 || factor < 1)
    return n.refuse("of a tensor that is no batch of images");
  Shape shape = operand.shape;
  shape[1] = n.resultShape()[1];
  shape.insert(shape.begin() + 2, {factor, factor});
  Tensor blocks = n.reshape(operand, shape);
  return n.give(
      n.reshape(n.transpose(blocks, {0, 1, 4, 2, 5, 3}), n.resultShape()));
}

/// Each place becomes a block of equal ones, of which there are whole numbers.
static LogicalResult importUpsampleNearest(NodeImporter &n) {
  Tensor operand = n.tensor(n.isGiven("input") ? "input" : "self");
  const Shape &result = n.resultShape();
  Shape shape = operand.shape;
  for (int64_t dim = operand.rank() - 1; dim >= 2; --dim) {
    std::optional<int64_t> from = operand.shape[dim].constant(),
                           to = result[dim].constant();
    if (!from || !to || *from == 0 || *to % *from != 0)
      return n.refuse("by a factor that is no whole number");
    shape.insert(shape.begin() + dim + 1, *to / *from);
  }
  SmallVector<int64_t> dims = {0, 1};
  for (int64_t dim = 2; dim < operand.rank(); ++dim)
    dims.push_back(2 * dim - 2);
  if (n.refused())
    return failure();
  return n.give(n.reshape(n.expand(operand, shape, dims), result));
}

ArrayRef<ImportRule> smp::moveRules() {
  static const ImportRule rules[] = {
      {"aten.pixel_shuffle.default", importPixelShuffle, "self"},
      {"aten.upsample_nearest1d.vec", importUpsampleNearest, "input"},
      {"aten.upsample_nearest1d.default", importUpsampleNearest, "self"},
      {"aten.upsample_nearest2d.vec", importUpsampleNearest, "input"},
      {"aten.upsample_nearest2d.default", importUpsampleNearest, "self"},
      {"aten.narrow.default", importNarrow, "self"},
      {"aten.movedim.int", importMoveDims, "self"},
      {"aten.movedim.intlist", importMoveDims, "self"},
      {"aten.swapdims.default", importSwapDims, "self"},
      {"aten.swapaxes.default", importSwapAxes, "self"},
      {"aten.numpy_T.default", importReverseDims, "self"},
      {"aten.flip.default", importFlip, "self"},
      {"aten.roll.default", importRoll, "self"},
  };
  return rules;
}
