//===- ShapeSemantics.cpp - Constants, sizes and moves of elements -------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static Tensor evaluate(DimOp op, Operands in, Context &) {
  return Tensor::index(in[0].dim(op.getDim()));
}

static FailureOr<Tensor> evaluate(ConstantOp op, Operands, Context &) {
  FailureOr<Tensor> value = tensorOf(op.getValue());
  if (failed(value))
    return op.emitOpError("expects dense elements, got ") << op.getValue();
  return value;
}

static Tensor evaluate(FillOp op, Operands in, Context &) {
  return Tensor::filled(elementTypeOf(op.getResult()),
                        shapeOf(op.getType(), in),
                        op.getValue().convertToDouble());
}

static Tensor evaluate(IotaOp op, Operands in, Context &) {
  Tensor result(elementTypeOf(op.getResult()), shapeOf(op.getType(), in));
  auto count = [&](auto elements) {
    forEachPlace(result.shape(), [&](auto place, int64_t element) {
      elements[element] = place[op.getDim()];
    });
  };
  if (result.isFloat())
    count(result.mutableFloats());
  else
    count(result.mutableInts());
  return result;
}

static Tensor evaluate(ExpandOp op, Operands in, Context &) {
  const Tensor &operand = in[0];
  Shape strides = stridesOf(operand.shape());
  ArrayRef<int64_t> dims = op.getDims();
  return moveElements(operand, shapeOf(op.getType(), in.drop_front()),
                      [&](auto place) {
                        int64_t from = 0;
                        for (size_t dim = 0; dim < dims.size(); ++dim)
                          if (operand.dim(dim) != 1)
                            from += place[dims[dim]] * strides[dim];
                        return from;
                      });
}

static FailureOr<Tensor> evaluate(ReshapeOp op, Operands in, Context &) {
  Shape shape = shapeOf(op.getType(), in.drop_front());
  if (elementsOf(shape) != in[0].size())
    return op.emitOpError("expects a shape of ")
           << in[0].size() << " elements, got " << shapeString(shape);
  return in[0].reshaped(std::move(shape));
}

static Tensor evaluate(TransposeOp op, Operands in, Context &) {
  Shape strides = stridesOf(in[0].shape()), shape;
  for (int64_t dim : op.getPermutation())
    shape.push_back(in[0].dim(dim));
  return moveElements(in[0], shape, [&](auto place) {
    int64_t from = 0;
    for (size_t dim = 0; dim < place.size(); ++dim)
      from += place[dim] * strides[op.getPermutation()[dim]];
    return from;
  });
}

/// Moves elements along one dim only: `source` maps a place along `dim` of the
/// result to one of the operand, or to a negative number.
static Tensor moveAlong(const Tensor &operand, int64_t dim, int64_t extent,
                        function_ref<int64_t(int64_t)> source,
                        double padding = 0) {
  Shape strides = stridesOf(operand.shape()), shape = operand.shape();
  shape[dim] = extent;
  return moveElements(
      operand, shape,
      [&](auto place) {
        int64_t along = source(place[dim]), from = along * strides[dim];
        if (along < 0)
          return along;
        for (int64_t other = 0; other < operand.rank(); ++other)
          if (other != dim)
            from += place[other] * strides[other];
        return from;
      },
      padding);
}

static FailureOr<Tensor> evaluate(SliceOp op, Operands in, Context &) {
  int64_t start = op.getStart(), stop = op.getStop(), step = op.getStep();
  if (stop > in[0].dim(op.getDim()))
    return op.emitOpError("expects a dim of at least ")
           << stop << " places, got " << in[0].dim(op.getDim());
  int64_t extent = stop <= start ? 0 : (stop - start + step - 1) / step;
  return moveAlong(in[0], op.getDim(), extent,
                   [&](int64_t place) { return start + place * step; });
}

static Tensor evaluate(PadOp op, Operands in, Context &) {
  int64_t size = in[0].dim(op.getDim()), spacing = op.getInterior() + 1;
  int64_t inner = size == 0 ? 0 : (size - 1) * spacing + 1;
  return moveAlong(
      in[0], op.getDim(), op.getLow() + inner + op.getHigh(),
      [&](int64_t place) -> int64_t {
        int64_t inside = place - op.getLow();
        bool held = inside >= 0 && inside < inner && inside % spacing == 0;
        return held ? inside / spacing : -1;
      },
      op.getValue().convertToDouble());
}

static Tensor evaluate(ConcatOp op, Operands in, Context &) {
  // Concatenation along dim 0 of tensors that have `dim` in front.
  int64_t dim = op.getDim();
  auto swapped = [&](const Tensor &tensor) {
    Shape strides = stridesOf(tensor.shape()), shape = tensor.shape();
    std::swap(strides[0], strides[dim]);
    std::swap(shape[0], shape[dim]);
    return moveElements(tensor, shape, [&](auto place) {
      return std::inner_product(place.begin(), place.end(), strides.begin(),
                                int64_t{0});
    });
  };
  SmallVector<Tensor> fronted;
  for (const Tensor &operand : in)
    fronted.push_back(swapped(operand));
  return swapped(concatenate(fronted));
}

void attachShapeSemantics(MLIRContext *context) {
  attach<DimOp, ConstantOp, FillOp, IotaOp, ExpandOp, ReshapeOp, TransposeOp,
         SliceOp, PadOp, ConcatOp>(context);
}

} // namespace smp::interpret
