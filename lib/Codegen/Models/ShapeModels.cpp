//===- ShapeModels.cpp - Where moved elements come from --------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

//===----------------------------------------------------------------------===//
// Constants: no coordinates
//===----------------------------------------------------------------------===//

namespace {

struct FillModel : PointwiseOpInterface::ExternalModel<FillModel, FillOp> {
  void emitElements(Operation *op, KernelEmitter &e, const Index &,
                    SmallVectorImpl<Value> &results) const {
    auto fill = cast<FillOp>(op);
    results.push_back(e.splat(fill.getValue().convertToDouble(),
                              tensorType(fill.getResult()).getElementType()));
  }
  bool needsCoordinates(Operation *) const { return false; }
  bool isMove(Operation *) const { return true; }
};

/// Only of one value everywhere; others lie in memory.
struct ConstantModel
    : PointwiseOpInterface::ExternalModel<ConstantModel, ConstantOp> {
  void emitElements(Operation *op, KernelEmitter &e, const Index &,
                    SmallVectorImpl<Value> &results) const {
    auto elements = cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
    Type type = elements.getElementType();
    results.push_back(arith::ConstantOp::create(
        e.b, DenseElementsAttr::get(e.vectorOf(type),
                                    elements.getSplatValue<Attribute>())));
  }
  bool needsCoordinates(Operation *) const { return false; }
  bool isMove(Operation *) const { return true; }
};

struct ExpandModel
    : PointwiseOpInterface::ExternalModel<ExpandModel, ExpandOp> {
  void emitElements(Operation *op, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto expand = cast<ExpandOp>(op);
    Value operand = expand.getOperand();
    if (!needsCoordinates(op)) {
      results.push_back(e.scalarAt(operand));
      return;
    }
    auto places = e.dims(index, expand.getResult());
    SmallVector<Coordinate> from;
    for (auto [dim, size] :
         llvm::zip(expand.getDims(), tensorType(operand).getShape()))
      from.push_back(size == 1 ? e.constant(0) : places[dim]);
    results.push_back(e.at(operand, e.fromDims(from)));
  }
  bool needsCoordinates(Operation *op) const {
    return tensorType(op->getOperand(0)).getNumElements() != 1;
  }
  bool isMove(Operation *) const { return true; }
};

/// The position is the same; coordinates are computed only where a group of
/// dims is cut in another way.
struct ReshapeModel
    : PointwiseOpInterface::ExternalModel<ReshapeModel, ReshapeOp> {
  void emitElements(Operation *op, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto reshape = cast<ReshapeOp>(op);
    results.push_back(
        e.at(reshape.getOperand(), operandIndex(e, reshape, index)));
  }
  bool needsCoordinates(Operation *) const { return false; }
  bool isMove(Operation *) const { return true; }

private:
  static Index operandIndex(KernelEmitter &e, ReshapeOp op,
                            const Index &index) {
    if (index.flat)
      return index;
    ArrayRef<int64_t> in = tensorType(op.getOperand()).getShape();
    ArrayRef<int64_t> out = tensorType(op.getResult()).getShape();
    SmallVector<Coordinate> from;
    for (size_t i = 0, j = 0; i < in.size() || j < out.size();) {
      // The smallest groups of dims, one of each side, with equal products.
      size_t firstIn = i, firstOut = j;
      int64_t inSize = i < in.size() ? in[i++] : 1;
      int64_t outSize = j < out.size() ? out[j++] : 1;
      while (inSize != outSize)
        if (inSize < outSize)
          inSize *= in[i++];
        else
          outSize *= out[j++];
      Coordinate position = e.constant(0);
      int64_t stride = 1;
      for (size_t dim = j; dim-- > firstOut; stride *= out[dim])
        position = e.add(position, e.mul(index.coordinates[dim], stride));
      llvm::append_range(
          from, e.delinearize(position, in.slice(firstIn, i - firstIn)));
    }
    return e.fromDims(from);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static Value move(IotaOp op, KernelEmitter &e, const Index &index) {
  Coordinate place = e.dims(index, op.getResult())[op.getDim()];
  return e.convert(e.lanesOf(place),
                   tensorType(op.getResult()).getElementType());
}

static Value move(TransposeOp op, KernelEmitter &e, const Index &index) {
  auto places = e.dims(index, op.getResult());
  SmallVector<Coordinate> from(places.size());
  for (auto [place, dim] : llvm::zip(places, op.getPermutation()))
    from[dim] = place;
  return e.at(op.getOperand(), e.fromDims(from));
}

static Value move(SliceOp op, KernelEmitter &e, const Index &index) {
  auto places = e.dims(index, op.getResult());
  Coordinate &place = places[op.getDim()];
  place = e.add(e.mul(place, op.getStep()), op.getStart());
  return e.at(op.getOperand(), e.fromDims(places));
}

static Value move(PadOp op, KernelEmitter &e, const Index &index) {
  using P = arith::CmpIPredicate;
  auto places = e.dims(index, op.getResult());
  Coordinate &place = places[op.getDim()];
  int64_t size = tensorType(op.getOperand()).getDimSize(op.getDim());
  int64_t pitch = static_cast<int64_t>(op.getInterior()) + 1;
  Value padding = e.splat(op.getValue().convertToDouble(),
                          tensorType(op.getResult()).getElementType());
  if (size == 0)
    return padding;
  Coordinate inner = e.add(place, -static_cast<int64_t>(op.getLow()));
  int64_t last = (size - 1) * pitch;
  Value inside =
      arith::AndIOp::create(e.b, e.compare(P::sge, inner, e.constant(0)),
                            e.compare(P::sle, inner, e.constant(last)));
  inner = e.clamp(inner, 0, last);
  if (pitch > 1) {
    auto [quotient, rest] = e.divmod(inner, pitch);
    inside = arith::AndIOp::create(e.b, inside,
                                   e.compare(P::eq, rest, e.constant(0)));
    inner = quotient;
  }
  place = inner;
  return e.select(inside, e.at(op.getOperand(), e.fromDims(places)), padding);
}

static Value move(ConcatOp op, KernelEmitter &e, const Index &index) {
  auto places = e.dims(index, op.getResult());
  Coordinate place = places[op.getDim()];
  int64_t end = tensorType(op.getResult()).getDimSize(op.getDim());
  Value result;
  for (Value operand : llvm::reverse(op.getOperands())) {
    int64_t size = tensorType(operand).getDimSize(op.getDim());
    int64_t begin = end - size;
    if (size == 0)
      continue;
    places[op.getDim()] = e.clamp(e.add(place, -begin), 0, size - 1);
    Value element = e.at(operand, e.fromDims(places));
    result = result ? e.select(e.compare(arith::CmpIPredicate::slt, place,
                                         e.constant(end)),
                               element, result)
                    : element;
    end = begin;
  }
  return result;
}

void attachShapeModels(MLIRContext *context) {
  FillOp::attachInterface<FillModel>(*context);
  ConstantOp::attachInterface<ConstantModel>(*context);
  ExpandOp::attachInterface<ExpandModel>(*context);
  ReshapeOp::attachInterface<ReshapeModel>(*context);
  attachMoves<IotaOp, TransposeOp, SliceOp, PadOp, ConcatOp>(context);
}

} // namespace smp::codegen
