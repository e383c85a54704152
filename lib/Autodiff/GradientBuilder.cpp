//===- GradientBuilder.cpp - Builds the ops of a gradient -----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

/// The type of `like` with the element type of `element`.
static RankedTensorType shapedLike(Value like, Value element) {
  return cast<RankedTensorType>(like.getType())
      .clone(cast<RankedTensorType>(element.getType()).getElementType());
}

SmallVector<Value> GradientBuilder::dynamicSizes(Value like) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(like.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(create<DimOp>(like, static_cast<uint64_t>(dim)));
  return sizes;
}

Value GradientBuilder::fill(Value like, double value) {
  return create<FillOp>(like.getType(), builder.getF64FloatAttr(value),
                        dynamicSizes(like));
}

Value GradientBuilder::expand(Value operand, Value like,
                              ArrayRef<int64_t> dims) {
  return create<ExpandOp>(shapedLike(like, operand), operand, dims,
                          dynamicSizes(like));
}

Value GradientBuilder::reshape(Value operand, Value like) {
  RankedTensorType type = shapedLike(like, operand);
  if (type == operand.getType())
    return operand;
  return create<ReshapeOp>(type, operand, dynamicSizes(like));
}

Value GradientBuilder::sum(Value operand, ArrayRef<int64_t> dims) {
  return dims.empty() ? operand : create<ReduceSumOp>(operand, dims);
}

SmallVector<int64_t> smp::complementDims(int64_t rank, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}
