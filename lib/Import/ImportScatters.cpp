//===- ImportScatters.cpp - Import of writes into a copy ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an export makes of assignments, x[:, 1:] = y: the tensor with a part
// replaced. The part and what is left are joined along the dim.
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"
#include <algorithm>

using namespace mlir;
using namespace smp;

/// `self` with the places start, start + step, ... of `dim`, `count` of them,
/// replaced by the pieces of `source`, whose dim has that size.
static Tensor replaced(NodeImporter &n, Tensor self, const Tensor &source,
                       int64_t dim, int64_t start, int64_t step,
                       int64_t count) {
  // Neighbours are one piece.
  int64_t width = step == 1 ? count : 1;
  std::vector<Tensor> pieces;
  int64_t done = 0, size = *self.shape[dim].constant();
  auto keepUntil = [&](int64_t place) {
    if (place > done)
      pieces.push_back(n.slice(self, dim, done, place));
  };
  for (int64_t taken = 0; taken < count; taken += width) {
    keepUntil(start + taken * step);
    pieces.push_back(n.slice(source, dim, taken, taken + width));
    done = start + taken * step + width;
  }
  keepUntil(size);
  return pieces.size() == 1 ? pieces.front() : n.concat(pieces, dim);
}

static LogicalResult importSliceScatter(NodeImporter &n) {
  Tensor self = n.tensor("self");
  Tensor source = convert(n, n.tensor("src"), self.element());
  int64_t dim = n.dim("dim", 0, self.rank());
  int64_t start = n.integer("start", 0), step = n.integer("step", 1);
  if (n.refused())
    return failure();
  // A dim of any size can only be replaced whole.
  if (start == 0 && step == 1 && source.shape == self.shape)
    return n.give(source);
  std::optional<int64_t> size = self.shape[dim].constant();
  if (!size || step < 1)
    return n.refuse("into dim " + Twine(dim) +
                    ", whose size varies with the batch, or with step " +
                    Twine(step));
  int64_t stop = n.integer("end", *size);
  auto fromFront = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + *size : place, 0, *size);
  };
  start = fromFront(start);
  int64_t count = (std::max(start, fromFront(stop)) - start + step - 1) / step;
  Shape shape = self.shape;
  shape[dim] = count;
  source = n.broadcast(source, shape);
  if (n.refused())
    return failure();
  return n.give(
      count == 0 ? self : replaced(n, self, source, dim, start, step, count));
}

static LogicalResult importSelectScatter(NodeImporter &n) {
  Tensor self = n.tensor("self");
  Tensor source = convert(n, n.tensor("src"), self.element());
  int64_t dim = n.dim("dim", 0, self.rank());
  int64_t index = n.integer("index", 0);
  if (n.refused())
    return failure();
  std::optional<int64_t> size = self.shape[dim].constant();
  if (!size)
    return n.refuse("into dim " + Twine(dim) +
                    ", whose size varies with the batch");
  if (index < 0)
    index += *size;
  if (index < 0 || index >= *size)
    return n.refuse("of place " + Twine(index) + " of " + Twine(*size));
  Shape shape = self.shape;
  shape.erase(shape.begin() + dim);
  source = n.broadcast(source, shape);
  shape.insert(shape.begin() + dim, 1);
  source = n.reshape(source, shape);
  if (n.refused())
    return failure();
  return n.give(replaced(n, self, source, dim, index, 1, 1));
}

/// The values of `name` in the type and shape of `self`, which counts for
/// nothing else.
static LogicalResult importOverwrite(NodeImporter &n, StringRef name) {
  Tensor self = n.tensor("self");
  Tensor result = operandAs(n, name, self.element(), self.shape);
  if (n.refused())
    return failure();
  return n.give(result);
}

static LogicalResult importCopyInto(NodeImporter &n) {
  return importOverwrite(n, "src");
}

static LogicalResult importFillInto(NodeImporter &n) {
  return importOverwrite(n, "value");
}

ArrayRef<ImportRule> smp::scatterRules() {
  static const ImportRule rules[] = {
      {"aten.slice_scatter.default", importSliceScatter, "self src"},
      {"aten.select_scatter.default", importSelectScatter, "self src"},
      {"aten.copy.default", importCopyInto, "self src"},
      {"aten.fill.Scalar", importFillInto, "self"},
      {"aten.fill.Tensor", importFillInto, "self value"},
  };
  return rules;
}
