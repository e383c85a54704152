//===- PoolingModels.cpp - Code of pooling --------------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is some rows of images, the lanes are neighbours in a row. Both ways
// a loop visits the places of a window: which place was largest is a number in
// the window, so the gradient gathers what belongs to a place and nothing is
// written twice.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

#include <limits>

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

namespace {

using P = arith::CmpIPredicate;

Value both(KernelEmitter &e, Value a, Value b) {
  return arith::AndIOp::create(e.b, a, b);
}

/// A coordinate brought into [0, size), and whether it was there.
std::pair<Coordinate, Value> inside(KernelEmitter &e, const Coordinate &place,
                                    int64_t size) {
  Value is = both(e, e.compare(P::sge, place, e.constant(0)),
                  e.compare(P::slt, place, e.constant(size)));
  return {e.clamp(place, 0, size - 1), is};
}

/// The size of an image along height (0) or width (1).
int64_t extent(Value images, unsigned dim) {
  return tensorType(images).getDimSize(2 + dim);
}

/// The rows of images, in tiles of a few.
Rows rowsOf(Value images) { return Rows(images); }
constexpr int64_t pooledElements = 4096;

/// Calls `body` with the coordinates [n, c, h, w] of the places of a tile,
/// sixteen in a row at once.
void forPlaces(KernelEmitter &e, Value images, Value begin, Value end,
               llvm::function_ref<void(ArrayRef<Coordinate>)> body) {
  Rows rows = rowsOf(images);
  ArrayRef<int64_t> shape = tensorType(images).getShape();
  e.forRows(begin, end, rows.perTile(pooledElements), rows.count,
            [&](Value row) {
              auto places = e.delinearize(e.uniform(row), shape.drop_back());
              e.forLanes(rows.width, [&](const Coordinate &lane) {
                SmallVector<Coordinate, 4> all(places);
                all.push_back(lane);
                body(all);
              });
            });
}

struct MaxPoolModel
    : KernelOpInterface::ExternalModel<MaxPoolModel, MaxPool2dOp> {
  int64_t getTiles(Operation *op) const {
    return rowsOf(op->getResult(0)).tiles(pooledElements);
  }

  void emitTiles(Operation *operation, KernelEmitter &e, Value begin,
                 Value end) const {
    auto op = cast<MaxPool2dOp>(operation);
    forPlaces(e, op.getResult(), begin, end, [&](ArrayRef<Coordinate> at) {
      SmallVector<Value> found = largest(op, e, at);
      e.store(op.getResult(), e.fromDims(at), found[0]);
      e.store(op.getPlaces(), e.fromDims(at), found[1]);
    });
  }

private:
  /// Where place `k` of the window of `at` lies along a dim, if it does.
  static std::pair<Coordinate, Value> source(MaxPool2dOp op, KernelEmitter &e,
                                             const Coordinate &at,
                                             const Coordinate &k,
                                             unsigned dim) {
    Coordinate place =
        e.add(e.mul(at, op.getStride()[dim]), e.mul(k, op.getDilation()[dim]));
    return inside(e, e.add(place, -op.getPadding()[dim]),
                  extent(op.getOperand(), dim));
  }

  /// The largest element of a window and its place, which is -1 until one is
  /// found.
  static SmallVector<Value> largest(MaxPool2dOp op, KernelEmitter &e,
                                    ArrayRef<Coordinate> at) {
    Type type = tensorType(op.getOperand()).getElementType();
    Value none = e.splat(-std::numeric_limits<double>::infinity(), type);
    Value nowhere = e.splat(-1.0, e.b.getI32Type());
    int64_t width = op.getKernel()[1], size = op.getKernel()[0] * width;
    return e.forCarried(
        e.i64(0), e.i64(size), 1, {none, nowhere},
        [&](Value place, ValueRange carried) {
          auto [i, j] = e.divmod(e.uniform(place), width);
          auto [row, rowIs] = source(op, e, at[2], i, 0);
          auto [column, columnIs] = source(op, e, at[3], j, 1);
          Value x =
              e.at(op.getOperand(), e.fromDims({at[0], at[1], row, column}));
          Value larger = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OGT,
                                               x, carried[0]);
          Value isNan =
              arith::CmpFOp::create(e.b, arith::CmpFPredicate::UNO, x, x);
          Value first = arith::CmpIOp::create(e.b, P::slt, carried[1],
                                              e.splat(0.0, e.b.getI32Type()));
          Value better = arith::OrIOp::create(e.b, larger, isNan);
          better = arith::OrIOp::create(e.b, better, first);
          Value take = both(e, better, both(e, rowIs, columnIs));
          Value here = e.convert(e.splat(place), e.b.getI32Type());
          return SmallVector<Value>{e.select(take, x, carried[0]),
                                    e.select(take, here, carried[1])};
        });
  }
};

struct MaxPoolGradModel
    : KernelOpInterface::ExternalModel<MaxPoolGradModel, MaxPool2dGradOp> {
  int64_t getTiles(Operation *op) const {
    return rowsOf(op->getResult(0)).tiles(pooledElements);
  }

  void emitTiles(Operation *operation, KernelEmitter &e, Value begin,
                 Value end) const {
    auto op = cast<MaxPool2dGradOp>(operation);
    forPlaces(e, op.getResult(), begin, end, [&](ArrayRef<Coordinate> at) {
      e.store(op.getResult(), e.fromDims(at), gathered(op, e, at));
    });
  }

private:
  /// The window along a dim that has `at` as its place `k`, if there is one.
  static std::pair<Coordinate, Value>
  window(MaxPool2dGradOp op, KernelEmitter &e, const Coordinate &at,
         const Coordinate &k, unsigned dim) {
    int64_t stride = op.getStride()[dim];
    int64_t last = (extent(op.getCotangent(), dim) - 1) * stride;
    Coordinate start = e.add(e.add(at, op.getPadding()[dim]),
                             e.mul(k, -op.getDilation()[dim]));
    auto [clamped, is] = inside(e, start, last + 1);
    auto [which, rest] = e.divmod(clamped, stride);
    return {which, both(e, is, e.compare(P::eq, rest, e.constant(0)))};
  }

  /// Windows in ascending order, which is descending order of their places.
  static Value gathered(MaxPool2dGradOp op, KernelEmitter &e,
                        ArrayRef<Coordinate> at) {
    Type type = tensorType(op.getCotangent()).getElementType();
    int64_t width = op.getKernel()[1], size = op.getKernel()[0] * width;
    Value zero = e.splat(0.0, type);
    return e.forCarried(
        e.i64(0), e.i64(size), 1, zero, [&](Value step, ValueRange carried) {
          Value place = arith::SubIOp::create(e.b, e.i64(size - 1), step);
          auto [i, j] = e.divmod(e.uniform(place), width);
          auto [row, rowIs] = window(op, e, at[2], i, 0);
          auto [column, columnIs] = window(op, e, at[3], j, 1);
          Index index = e.fromDims({at[0], at[1], row, column});
          Value here = e.convert(e.splat(place), e.b.getI32Type());
          Value chosen = arith::CmpIOp::create(
              e.b, P::eq, e.at(op.getPlaces(), index), here);
          Value hit = both(e, chosen, both(e, rowIs, columnIs));
          Value term = e.select(hit, e.at(op.getCotangent(), index), zero);
          return SmallVector<Value>{addF(e, carried[0], term)};
        })[0];
  }
};

} // namespace

void attachPoolingModels(MLIRContext *context) {
  MaxPool2dOp::attachInterface<MaxPoolModel>(*context);
  MaxPool2dGradOp::attachInterface<MaxPoolGradModel>(*context);
}

} // namespace smp::codegen
