//===- ShapeOps.cpp - Inference and checks of shape ops -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "llvm/ADT/StringExtras.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace smp;

/// Of an op that changes the places of one dim.
static ShardingRule movedRule(Operation *op, int64_t moved) {
  SmallVector<std::string> operands;
  std::string result;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    std::string &names = operands.emplace_back();
    for (int64_t dim = 0; dim < tensorType(operand).getRank(); ++dim)
      names +=
          (Twine(dim == moved ? " M" + Twine(index) : Twine(" d") + Twine(dim)))
              .str();
  }
  for (int64_t dim = 0; dim < tensorType(op->getResult(0)).getRank(); ++dim)
    result += dim == moved ? " R" : " d" + std::to_string(dim);
  return ShardingRule::parse(op, llvm::join(operands, ",") + "->" + result);
}

namespace {
/// Goes through the dims of both shapes of a reshape at once and gives equal
/// factors of them equal numbers.
class ReshapeFactors {
public:
  ReshapeFactors(ArrayRef<int64_t> from, ArrayRef<int64_t> to)
      : from{from, {}}, to{to, {}} {}

  ShardingRule run() {
    while (from.next() && to.next() && takeCommon())
      ;
    // Factors that cross each other: what is left is needed whole.
    leaveWhole(from);
    leaveWhole(to);
    rule.operands = {std::move(from.dims)};
    rule.results = {std::move(to.dims)};
    return std::move(rule);
  }

private:
  struct Side {
    ArrayRef<int64_t> shape;
    ShardingRule::Shape dims;
    int64_t rest = 1; ///< of the last of `dims`

    /// Whether a size is left to make factors of.
    bool next() {
      while (rest == 1 && dims.size() < shape.size()) {
        rest = shape[dims.size()];
        dims.emplace_back();
      }
      return rest > 1;
    }
  };

  bool takeCommon() {
    int64_t factor = std::min(from.rest, to.rest);
    if (from.rest % factor != 0 || to.rest % factor != 0)
      return false;
    for (Side *side : {&from, &to}) {
      side->dims.back().push_back(rule.factors.size());
      side->rest /= factor;
    }
    rule.factors.push_back({factor, /*isWhole=*/false, /*isSummed=*/false});
    return true;
  }

  void leaveWhole(Side &side) {
    do {
      if (side.rest != 1) {
        side.dims.back().push_back(rule.factors.size());
        rule.factors.push_back(
            {side.rest, /*isWhole=*/true, /*isSummed=*/false});
      }
      side.rest = 1;
      if (side.dims.size() == side.shape.size())
        return;
      side.rest = side.shape[side.dims.size()];
      side.dims.emplace_back();
    } while (true);
  }

  Side from, to;
  ShardingRule rule;
};
} // namespace

#define GET_OP_CLASSES
#include "smp/IR/ShapeOps.cpp.inc"

void SmpDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ShapeOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DimOp
//===----------------------------------------------------------------------===//

LogicalResult DimOp::verify() {
  return verifyDim(*this, getDim(),
                   tensorType(getOperand()).getRank()); // dim_c1
}

//===----------------------------------------------------------------------===//
// ConstantOp, FillOp, IotaOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (!isa<DenseElementsAttr>(getValue())) // constant_c1
    return emitOpError("expects dense elements, got others");
  return success();
}

LogicalResult FillOp::verify() {
  if (failed(verifySizes(*this, getType(), getSizes().size()))) // fill_c1
    return failure();
  return verifyHolds(*this, getType().getElementType(), getValue()); // fill_c2
}

LogicalResult IotaOp::verify() {
  if (failed(verifyDim(*this, getDim(), getType().getRank()))) // iota_c1
    return failure();
  return verifySizes(*this, getType(), getSizes().size()); // iota_c2
}

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = getType();
  ArrayRef<int64_t> dims = getDims();
  if (int64_t(dims.size()) != from.getRank()) // expand_c1
    return emitOpError() << "expects a result dim for each of the "
                         << from.getRank() << " operand dims, got "
                         << dims.size();
  for (auto [index, dim] : llvm::enumerate(dims)) // expand_c2
    if (dim < 0 || dim >= to.getRank() || (index > 0 && dim <= dims[index - 1]))
      return emitOpError() << "expects ascending result dims in [0, "
                           << to.getRank() << "), got " << dim;
  for (auto [dim, target] : llvm::enumerate(dims)) // expand_c3
    if (from.getDimSize(dim) != 1 &&
        !compatibleSizes(from.getDimSize(dim), to.getDimSize(target)))
      return emitOpError() << "expects operand dim " << dim << " of size 1 or "
                           << to.getDimSize(target) << ", got "
                           << from.getDimSize(dim);
  if (from.getElementType() != to.getElementType()) // expand_c4
    return emitOpError() << "expects a result of element type "
                         << from.getElementType() << ", got "
                         << to.getElementType();
  return verifySizes(*this, to, getSizes().size()); // expand_c5
}

ShardingRule ExpandOp::getShardingRule() {
  ArrayRef<int64_t> from = tensorType(getOperand()).getShape();
  ArrayRef<int64_t> to = getType().getShape();
  std::string operand, result;
  for (auto [size, dim] : llvm::zip_equal(from, getDims()))
    operand += size == 1 && to[dim] != 1 ? " 1" : " d" + std::to_string(dim);
  for (size_t dim = 0; dim < to.size(); ++dim)
    result += " d" + std::to_string(dim);
  return ShardingRule::parse(*this, operand + "->" + result);
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

ShardingRule ReshapeOp::getShardingRule() {
  return ReshapeFactors(tensorType(getOperand()).getShape(),
                        getType().getShape())
      .run();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = getType();
  if (from.getElementType() != to.getElementType()) // reshape_c1
    return emitOpError() << "expects a result of element type "
                         << from.getElementType() << ", got "
                         << to.getElementType();
  if (from.hasStaticShape() && to.hasStaticShape() && // reshape_c2
      from.getNumElements() != to.getNumElements())
    return emitOpError() << "expects a result of " << from.getNumElements()
                         << " elements, got " << to.getNumElements();
  return verifySizes(*this, to, getSizes().size()); // reshape_c3
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  SmallVector<bool> seen(type.getRank(), false);
  SmallVector<int64_t> shape;
  bool valid = int64_t(adaptor.getPermutation().size()) == type.getRank();
  for (int64_t dim : adaptor.getPermutation()) {
    valid = valid && dim >= 0 && dim < type.getRank() && !seen[dim];
    if (!valid)
      break;
    seen[dim] = true;
    shape.push_back(type.getDimSize(dim));
  }
  if (!valid) // transpose_c1
    return emitOptionalError(loc, "expects a permutation of the ",
                             type.getRank(), " operand dims");
  types.push_back(withShape(type, shape));
  return success();
}

ShardingRule TransposeOp::getShardingRule() {
  std::string operand, result;
  for (int64_t dim = 0; dim < tensorType(getOperand()).getRank(); ++dim)
    operand += " d" + std::to_string(dim);
  for (int64_t dim : getPermutation())
    result += " d" + std::to_string(dim);
  return ShardingRule::parse(*this, operand + "->" + result);
}

//===----------------------------------------------------------------------===//
// SliceOp, PadOp, ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  int64_t dim = adaptor.getDim(), start = adaptor.getStart(),
          stop = adaptor.getStop(), step = adaptor.getStep();
  if (dim < 0 || dim >= type.getRank() || type.isDynamicDim(dim)) // slice_c1
    return emitOptionalError(loc, "expects a static dim of the operand, got ",
                             dim);
  int64_t size = type.getDimSize(dim);
  if (start < 0 || stop < start || stop > size) // slice_c2
    return emitOptionalError(loc, "expects 0 <= start <= stop <= ", size,
                             ", got ", start, " and ", stop);
  if (step < 1) // slice_c3
    return emitOptionalError(loc, "expects a positive step, got ", step);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = llvm::divideCeil(stop - start, step);
  types.push_back(withShape(type, shape));
  return success();
}

ShardingRule SliceOp::getShardingRule() { return movedRule(*this, getDim()); }

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  int64_t dim = adaptor.getDim(), low = adaptor.getLow(),
          high = adaptor.getHigh(), interior = adaptor.getInterior();
  if (dim < 0 || dim >= type.getRank() || type.isDynamicDim(dim)) // pad_c1
    return emitOptionalError(loc, "expects a static dim of the operand, got ",
                             dim);
  if (low < 0 || high < 0 || interior < 0) // pad_c2
    return emitOptionalError(loc, "expects padding of no negative size, got ",
                             std::min({low, high, interior}));
  SmallVector<int64_t> shape(type.getShape());
  int64_t gaps = std::max<int64_t>(shape[dim] - 1, 0) * interior;
  shape[dim] += low + high + gaps;
  types.push_back(withShape(type, shape));
  return success();
}

LogicalResult PadOp::verify() {
  return verifyHolds(*this, getType().getElementType(), getValue()); // pad_c3
}

ShardingRule PadOp::getShardingRule() { return movedRule(*this, getDim()); }

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getOperands().empty()) // concat_c1
    return emitOptionalError(loc, "expects at least one operand");
  RankedTensorType first = tensorType(adaptor.getOperands().front());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= first.getRank()) // concat_c2
    return emitOptionalError(loc, "expects dim in [0, ", first.getRank(),
                             "), got ", dim);
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  for (Value operand : adaptor.getOperands()) {
    RankedTensorType type = tensorType(operand);
    SmallVector<int64_t> others(type.getShape()), expected(first.getShape());
    bool fits = type.getElementType() == first.getElementType() &&
                type.getRank() == first.getRank();
    if (fits)
      others[dim] = expected[dim] = 0;
    if (!fits || !compatibleShapes(others, expected)) // concat_c3
      return emitOptionalError(loc, "expects operands that differ only in dim ",
                               dim, ", got ", type, " beside ", first);
    if (type.isDynamicDim(dim) || ShapedType::isDynamic(shape[dim]))
      shape[dim] = ShapedType::kDynamic;
    else
      shape[dim] += type.getDimSize(dim);
  }
  types.push_back(withShape(first, shape));
  return success();
}

ShardingRule ConcatOp::getShardingRule() { return movedRule(*this, getDim()); }
