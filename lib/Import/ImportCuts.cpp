//===- ImportCuts.cpp - Import of slices, joins and paddings --------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;
using namespace smp;

static LogicalResult importSlice(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t dim = n.dim("dim", 0, operand.rank());
  int64_t start = n.integer("start", 0), step = n.integer("step", 1);
  if (n.refused())
    return failure();
  // A dim of any size can only be kept whole.
  if (start == 0 && step == 1 && n.resultShape() == operand.shape)
    return n.give(operand);
  std::optional<int64_t> size = operand.shape[dim].constant();
  if (!size)
    return n.refuse("that cuts dim " + Twine(dim) +
                    ", whose size varies with the batch");
  int64_t stop = n.integer("end", *size);
  auto fromFront = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + *size : place, 0, *size);
  };
  start = fromFront(start);
  stop = std::max(start, fromFront(stop));
  if (n.refused() || step < 1)
    return n.refuse("with step " + Twine(step));
  return n.give(n.slice(operand, dim, start, stop, step));
}

static LogicalResult importSelect(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t dim = n.dim("dim", 0, operand.rank());
  int64_t index = n.integer("index", 0);
  if (n.refused())
    return failure();
  std::optional<int64_t> size = operand.shape[dim].constant();
  if (!size)
    return n.refuse("from dim " + Twine(dim) +
                    ", whose size varies with the batch");
  if (index < 0)
    index += *size;
  if (index < 0 || index >= *size)
    return n.refuse("of place " + Twine(index) + " of " + Twine(*size));
  Tensor piece = n.slice(operand, dim, index, index + 1);
  return n.give(n.reshape(piece, n.resultShape()));
}

/// Consecutive pieces along a dim, as large as the results are.
static LogicalResult importSplit(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t dim = n.dim("dim", 0, operand.rank());
  int64_t start = 0;
  for (unsigned i = 0; i < n.node.outputs.size() && !n.refused(); ++i) {
    const Shape &shape = n.resultShape(i);
    if (shape.size() != operand.shape.size() || !shape[dim].constant())
      return n.refuse("of dim " + Twine(dim) +
                      ", whose size varies with the batch");
    int64_t stop = start + *shape[dim].constant();
    Tensor piece = n.slice(operand, dim, start, stop);
    if (n.refused() || failed(n.give(piece, i)))
      return failure();
    start = stop;
  }
  return success(!n.refused());
}

static LogicalResult importUnbind(NodeImporter &n) {
  Tensor operand = n.tensor("self");
  int64_t dim = n.dim("dim", 0, operand.rank());
  for (unsigned i = 0; i < n.node.outputs.size() && !n.refused(); ++i) {
    Tensor piece = n.slice(operand, dim, i, i + 1);
    if (n.refused() || failed(n.give(n.reshape(piece, n.resultShape(i)), i)))
      return failure();
  }
  return success(!n.refused());
}

static LogicalResult importCat(NodeImporter &n) {
  std::vector<Tensor> operands = n.tensors("tensors");
  int64_t dim = n.dim("dim", 0, operands.front().rank());
  for (Tensor &operand : operands) {
    if (operand.rank() != operands.front().rank())
      return n.refuse("of tensors of different ranks");
    operand = convert(n, operand, n.resultElement());
  }
  if (n.refused())
    return failure();
  return n.give(operands.size() == 1 ? operands.front()
                                     : n.concat(operands, dim));
}

static LogicalResult importStack(NodeImporter &n) {
  std::vector<Tensor> operands = n.tensors("tensors");
  int64_t dim = n.dim("dim", 0, operands.front().rank() + 1);
  if (n.refused())
    return failure();
  for (Tensor &operand : operands) {
    Shape shape = operand.shape;
    if (int64_t(shape.size()) < dim)
      return n.refuse("of tensors of different ranks");
    shape.insert(shape.begin() + dim, 1);
    operand = convert(n, n.reshape(operand, shape), n.resultElement());
  }
  return n.give(n.concat(operands, dim));
}

/// Pairs (low, high), the last dim first; negative ones cut.
static LogicalResult importPad(NodeImporter &n) {
  if (n.text("mode", "constant") != "constant")
    return n.refuse("with mode '" + n.text("mode", "") + "'");
  Tensor result = n.tensor("self");
  std::vector<int64_t> pads = n.integers("pad");
  double value = n.number("value", 0.0);
  if (int64_t(pads.size()) > 2 * result.rank() || pads.size() % 2 != 0)
    return n.refuse("with " + Twine(pads.size()) + " sizes");
  for (size_t i = 0; i < pads.size() && !n.refused(); i += 2) {
    int64_t dim = result.rank() - 1 - i / 2, low = pads[i], high = pads[i + 1];
    std::optional<int64_t> size = result.shape[dim].constant();
    if (size && (low < 0 || high < 0)) {
      int64_t start = std::min(std::max<int64_t>(-low, 0), *size);
      int64_t stop = std::max(start, *size - std::max<int64_t>(-high, 0));
      result = n.slice(result, dim, start, stop);
    }
    result = n.pad(result, dim, std::max<int64_t>(low, 0),
                   std::max<int64_t>(high, 0), value);
  }
  if (n.refused())
    return failure();
  return n.give(result);
}

/// Differences of neighbours along a dim, `n` times.
static LogicalResult importDiff(NodeImporter &n) {
  Tensor result = n.tensor("self");
  int64_t dim = n.dim("dim", -1, result.rank());
  std::vector<Tensor> pieces;
  for (StringRef name : {"prepend", "self", "append"})
    if (Tensor piece = n.optionalTensor(name))
      pieces.push_back(convert(n, piece, n.resultElement()));
  if (n.refused() || result.element().isInteger(1))
    return n.refuse("on booleans");
  if (pieces.size() > 1)
    result = n.concat(pieces, dim);
  for (int64_t i = 0, times = n.integer("n", 1); i < times; ++i) {
    std::optional<int64_t> size = result.shape[dim].constant();
    if (!size || *size < 1)
      return n.refuse("along dim " + Twine(dim) +
                      ", whose size varies with the batch");
    Tensor later = n.slice(result, dim, 1, *size);
    Tensor earlier = n.slice(result, dim, 0, *size - 1);
    result = n.binary<SubOp>(later, earlier);
  }
  return n.give(result);
}

ArrayRef<ImportRule> smp::cutRules() {
  static const ImportRule rules[] = {
      {"aten.slice.Tensor", importSlice, "self"},
      {"aten.select.int", importSelect, "self"},
      {"aten.split.Tensor", importSplit, "self"},
      {"aten.split_with_sizes.default", importSplit, "self"},
      {"aten.split.sizes", importSplit, "self"},
      {"aten.chunk.default", importSplit, "self"},
      {"aten.unsafe_split.Tensor", importSplit, "self"},
      {"aten.unsafe_chunk.default", importSplit, "self"},
      {"aten.tensor_split.sections", importSplit, "self"},
      {"aten.tensor_split.indices", importSplit, "self"},
      {"aten.unbind.int", importUnbind, "self"},
      {"aten.cat.default", importCat, "tensors"},
      {"aten.stack.default", importStack, "tensors"},
      {"aten.constant_pad_nd.default", importPad, "self"},
      {"aten.pad.default", importPad, "self"},
      {"aten.diff.default", importDiff, "self"},
  };
  return rules;
}
