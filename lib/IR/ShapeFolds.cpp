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

LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  if (succeeded(moveFill(op, {}, rewriter)))
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

LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
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
