//===- ShapeFolds.cpp - Folds and canonical forms of shape ops ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of them keep every bit of every element. What gives an operand or a
// constant is a fold. What gives another op is a canonical form, applied from
// `specialize` on: before, `import` recovers composites from the ops that the
// model was written with.
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace smp;

//===----------------------------------------------------------------------===//
// Uniform elements, which no move changes
//===----------------------------------------------------------------------===//

/// A constant of one element everywhere, under the type of a moved value.
static OpFoldResult foldUniform(Attribute operand, RankedTensorType type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(operand);
  if (!splat || !type.hasStaticShape() || type.getNumElements() == 0)
    return {};
  return Attribute(splat.resizeSplat(type));
}

/// Makes a move of a fill a fill.
static LogicalResult moveFill(Operation *op, ValueRange sizes,
                              PatternRewriter &rewriter) {
  auto fill = op->getOperand(0).getDefiningOp<FillOp>();
  auto type = tensorType(op->getResult(0));
  if (!fill || size_t(type.getNumDynamicDims()) != sizes.size())
    return rewriter.notifyMatchFailure(op, "no fill, or of unknown sizes");
  auto moved =
      FillOp::create(rewriter, op->getLoc(), type, fill.getValueAttr(), sizes);
  copyScope(op, moved);
  rewriter.replaceOp(op, moved.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// DimOp, ConstantOp
//===----------------------------------------------------------------------===//

OpFoldResult DimOp::fold(FoldAdaptor) {
  RankedTensorType type = tensorType(getOperand());
  if (!type.isDynamicDim(getDim()))
    return IntegerAttr::get(IndexType::get(getContext()),
                            type.getDimSize(getDim()));
  auto sized = getOperand().getDefiningOp<SizedOpInterface>();
  if (!sized)
    return {};
  ArrayRef<int64_t> before = type.getShape().take_front(getDim());
  return sized.getSizes()[llvm::count_if(before, ShapedType::isDynamic)];
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

OpFoldResult ExpandOp::fold(FoldAdaptor adaptor) {
  RankedTensorType type = tensorType(getOperand());
  if (type == getType() && type.hasStaticShape())
    return getOperand();
  return foldUniform(adaptor.getOperand(), getType());
}

LogicalResult ExpandOp::canonicalize(ExpandOp op, PatternRewriter &rewriter) {
  if (succeeded(moveFill(op, op.getSizes(), rewriter)))
    return success();
  auto inner = op.getOperand().getDefiningOp<ExpandOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "no expand of an expand");
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(op.getDims()[dim]);
  rewriter.modifyOpInPlace(op, [&] {
    op.getOperandMutable().assign(inner.getOperand());
    op.setDims(dims);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  RankedTensorType type = tensorType(getOperand());
  if (type == getType() && type.hasStaticShape())
    return getOperand();
  // A reshape of a reshape needs only the last shape.
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return foldUniform(adaptor.getOperand(), getType());
}

LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  return moveFill(op, op.getSizes(), rewriter);
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getType().getRank())))
    return getOperand();
  return foldUniform(adaptor.getOperand(), getType());
}

LogicalResult TransposeOp::canonicalize(TransposeOp op,
                                        PatternRewriter &rewriter) {
  if (succeeded(moveFill(op, {}, rewriter)))
    return success();
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "no transpose of a transpose");
  SmallVector<int64_t> permutation;
  for (int64_t dim : op.getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  rewriter.modifyOpInPlace(op, [&] {
    op.getOperandMutable().assign(inner.getOperand());
    op.setPermutation(permutation);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  int64_t size = tensorType(getOperand()).getDimSize(getDim());
  if (getStart() == 0 && getStep() == 1 && int64_t(getStop()) == size)
    return getOperand();
  return foldUniform(adaptor.getOperand(), getType());
}

/// A slice along the joined dim, from the parts that hold its places.
static LogicalResult sliceParts(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ConcatOp>();
  if (!inner || inner.getDim() != op.getDim())
    return rewriter.notifyMatchFailure(op, "no slice of a concat of its dim");
  int64_t dim = op.getDim(), step = op.getStep();
  int64_t next = op.getStart(), begin = 0;
  struct Part {
    Value operand;
    int64_t start, stop, size;
  };
  SmallVector<Part> parts;
  for (Value operand : inner.getOperands()) {
    RankedTensorType type = tensorType(operand);
    int64_t size = type.getDimSize(dim);
    int64_t end = std::min<int64_t>(op.getStop(), begin + size);
    // All have the type of the result but for this dim.
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = op.getType().getDimSize(dim);
    if (ShapedType::isDynamic(size) || type.clone(shape) != op.getType())
      return rewriter.notifyMatchFailure(op, "parts whose sizes are not known");
    if (next < end) {
      int64_t count = (end - next + step - 1) / step;
      int64_t start = next - begin;
      parts.push_back({operand, start, start + (count - 1) * step + 1, size});
      next += count * step;
    }
    begin += size;
  }
  if (parts.empty())
    return rewriter.notifyMatchFailure(op, "no place that is left");
  SmallVector<Value> values;
  for (const Part &part : parts) {
    if (part.start == 0 && part.stop == part.size &&
        (step == 1 || part.size == 1)) {
      values.push_back(part.operand);
      continue;
    }
    auto slice = SliceOp::create(rewriter, op.getLoc(), part.operand, dim,
                                 part.start, part.stop, step);
    copyScope(op, slice);
    values.push_back(slice);
  }
  if (values.size() == 1) {
    rewriter.replaceOp(op, values.front());
    return success();
  }
  auto joined = ConcatOp::create(rewriter, op.getLoc(), values, dim);
  copyScope(op, joined);
  rewriter.replaceOp(op, joined.getResult());
  return success();
}

LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  if (succeeded(moveFill(op, {}, rewriter)) ||
      succeeded(sliceParts(op, rewriter)))
    return success();
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner || inner.getDim() != op.getDim())
    return rewriter.notifyMatchFailure(op, "no slice of a slice of its dim");
  int64_t places = op.getType().getDimSize(op.getDim());
  if (places == 0)
    return rewriter.notifyMatchFailure(op, "no place that is left");
  int64_t start = inner.getStart() + op.getStart() * inner.getStep();
  int64_t step = inner.getStep() * op.getStep();
  rewriter.modifyOpInPlace(op, [&] {
    op.getOperandMutable().assign(inner.getOperand());
    op.setStart(start);
    op.setStop(start + (places - 1) * step + 1);
    op.setStep(step);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// PadOp, ConcatOp
//===----------------------------------------------------------------------===//

OpFoldResult PadOp::fold(FoldAdaptor) {
  bool none = getLow() == 0 && getHigh() == 0 && getInterior() == 0;
  return none ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getOperands().size() == 1 ? OpFoldResult(getOperands().front())
                                   : OpFoldResult();
}

/// The slice that two neighbouring slices of one value are, or null.
static Value joinSlices(Value left, Value right, int64_t dim,
                        PatternRewriter &rewriter) {
  auto first = left.getDefiningOp<SliceOp>();
  auto second = right.getDefiningOp<SliceOp>();
  if (!first || !second || first.getOperand() != second.getOperand() ||
      int64_t(first.getDim()) != dim || int64_t(second.getDim()) != dim ||
      first.getStep() != 1 || second.getStep() != 1 ||
      first.getStop() != second.getStart())
    return {};
  auto joined = SliceOp::create(rewriter, second.getLoc(), first.getOperand(),
                                dim, first.getStart(), second.getStop(), 1);
  copyScope(second, joined);
  return joined;
}

/// Joins the slices that a concat puts together again.
static LogicalResult joinNeighbours(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> joined;
  for (Value operand : op.getOperands()) {
    Value both = joined.empty() ? Value()
                                : joinSlices(joined.back(), operand,
                                             op.getDim(), rewriter);
    if (both)
      joined.back() = both;
    else
      joined.push_back(operand);
  }
  if (joined.size() == op.getOperands().size())
    return rewriter.notifyMatchFailure(op, "no slices that are neighbours");
  rewriter.modifyOpInPlace(op, [&] { op.getOperandsMutable().assign(joined); });
  return success();
}

LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
  if (succeeded(joinNeighbours(op, rewriter)))
    return success();
  SmallVector<Value> filled =
      llvm::to_vector(llvm::make_filter_range(op.getOperands(), [&](Value v) {
        return tensorType(v).getDimSize(op.getDim()) != 0;
      }));
  // The type is that of the first operand, so it must not tell less without.
  if (filled.size() == op.getOperands().size() || filled.empty() ||
      !op.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "no empty operand beside others");
  rewriter.modifyOpInPlace(op, [&] { op.getOperandsMutable().assign(filled); });
  return success();
}
