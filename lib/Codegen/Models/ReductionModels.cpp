//===- ReductionModels.cpp - Code of reductions along dims -----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the last dim is reduced, the lanes are neighbours in it and are
// combined at the end; where it is kept, each lane is a result of its own and
// adds its places in ascending order. Both orders depend on the shape only.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

namespace {

/// The loops of a reduction of `operand` over `dims` to `result`.
struct ReductionLoops {
  ReductionLoops(Value operand, Value result, ArrayRef<int64_t> dims,
                 Reduction kind)
      : operand(operand), result(result), kind(kind) {
    auto type = tensorType(operand);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool reduced = llvm::is_contained(dims, dim);
      (reduced ? reducedDims : keptDims).push_back(dim);
      (reduced ? reducedShape : keptShape).push_back(type.getDimSize(dim));
    }
    lastReduced =
        !reducedDims.empty() && reducedDims.back() == type.getRank() - 1;
    int64_t trailing = type.getRank() - reducedDims.size();
    flat = lastReduced && reducedDims.front() == trailing &&
           !operand.getDefiningOp();
  }

  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t result = 1;
    for (int64_t size : sizes)
      result *= size;
    return result;
  }

  int64_t rowsPerTile() const {
    return std::max<int64_t>(
        1, 16384 / std::max<int64_t>(1, product(reducedShape)));
  }
  /// Lanes of a column tile.
  int64_t columns() const { return keptShape.empty() ? 1 : keptShape.back(); }
  int64_t vectors() const { return columns() % 64 == 0 ? 4 : 1; }
  int64_t columnTiles() const {
    int64_t width = vectors() * KernelEmitter::lanes;
    return (columns() + width - 1) / width;
  }

  int64_t tiles() const {
    int64_t kept = product(keptShape);
    if (lastReduced)
      return (kept + rowsPerTile() - 1) / rowsPerTile();
    return kept / std::max<int64_t>(1, columns()) * columnTiles();
  }

  void emit(KernelEmitter &e, Value begin, Value end) const {
    if (lastReduced)
      e.forRows(begin, end, rowsPerTile(), product(keptShape),
                [&](Value row) { emitRow(e, row); });
    else
      e.forRange(begin, end, 1, [&](Value tile) { emitColumns(e, tile); });
  }

private:
  Index place(KernelEmitter &e, ArrayRef<Coordinate> kept,
              ArrayRef<Coordinate> reduced) const {
    SmallVector<Coordinate> all(keptDims.size() + reducedDims.size());
    for (auto [dim, coordinate] : llvm::zip(keptDims, kept))
      all[dim] = coordinate;
    for (auto [dim, coordinate] : llvm::zip(reducedDims, reduced))
      all[dim] = coordinate;
    return e.fromDims(all);
  }

  /// The partial results of the last dim, at one place of the other reduced
  /// dims.
  Value partialRow(KernelEmitter &e, ArrayRef<Coordinate> kept,
                   SmallVector<Coordinate, 4> reduced) const {
    int64_t extent = reducedShape.back();
    reduced.emplace_back();
    return e.reducePartial(extent, kind, [&](const Coordinate &lane) {
      reduced.back() = lane;
      return SmallVector<Value>{e.at(operand, place(e, kept, reduced))};
    })[0];
  }

  void emitRow(KernelEmitter &e, Value row) const {
    Value partial;
    int64_t outer = product(ArrayRef(reducedShape).drop_back());
    if (flat) {
      int64_t extent = product(reducedShape);
      Coordinate base = e.mul(e.uniform(row), extent);
      partial = e.reducePartial(extent, kind, [&](const Coordinate &lane) {
        return SmallVector<Value>{
            e.at(operand, Index::makeFlat(e.add(base, lane)))};
      })[0];
    } else {
      auto kept = e.delinearize(e.uniform(row), keptShape);
      auto at = [&](Value position) {
        return partialRow(e, kept,
                          e.delinearize(e.uniform(position),
                                        ArrayRef(reducedShape).drop_back()));
      };
      partial = at(e.i64(0));
      if (outer > 1)
        partial = e.forCarried(e.i64(1), e.i64(outer), 1, partial,
                               [&](Value position, ValueRange carried) {
                                 return SmallVector<Value>{
                                     e.combine(carried[0], at(position), kind)};
                               })[0];
    }
    e.store(result, Index::makeFlat(e.uniform(row)),
            e.combineLanes(partial, kind));
  }

  void emitColumns(KernelEmitter &e, Value tile) const {
    auto [row, group] = e.divmod(e.uniform(tile), columnTiles());
    int64_t width = vectors() * KernelEmitter::lanes;
    auto kept = e.delinearize(row, ArrayRef(keptShape).drop_back());
    Coordinate low = e.mul(group, width);
    if (keptShape.empty())
      low = e.constant(0);
    if (columns() % width == 0) {
      SmallVector<Coordinate> lanes;
      for (int64_t v = 0; v < vectors(); ++v) {
        Coordinate lane = e.add(low, v * KernelEmitter::lanes);
        lane.laneStride = 1;
        lanes.push_back(lane);
      }
      accumulate(e, kept, row, lanes);
      return;
    }
    Value high =
        arith::MinSIOp::create(e.b, e.add(low, width).base, e.i64(columns()));
    e.forLanes(low.base, high,
               [&](const Coordinate &lane) { accumulate(e, kept, row, lane); });
  }

  /// Each lane of `columns` over all reduced places, in order.
  void accumulate(KernelEmitter &e, SmallVector<Coordinate, 4> kept,
                  const Coordinate &row, ArrayRef<Coordinate> lanes) const {
    if (!keptShape.empty())
      kept.emplace_back();
    auto at = [&](Value position) {
      auto reduced = e.delinearize(e.uniform(position), reducedShape);
      SmallVector<Value> values;
      for (const Coordinate &lane : lanes) {
        if (!keptShape.empty())
          kept.back() = lane;
        values.push_back(e.at(operand, place(e, kept, reduced)));
      }
      return values;
    };
    int64_t count = product(reducedShape);
    SmallVector<Value> sums = at(e.i64(0));
    if (count > 1)
      sums = e.forCarried(e.i64(1), e.i64(count), 1, sums,
                          [&](Value position, ValueRange carried) {
                            SmallVector<Value> values = at(position);
                            for (auto [value, old] : llvm::zip(values, carried))
                              value = e.combine(old, value, kind);
                            return values;
                          });
    for (auto [lane, sum] : llvm::zip(lanes, sums)) {
      Coordinate position = e.add(e.mul(row, columns()), lane);
      if (keptShape.empty())
        position = e.constant(0);
      e.store(result, Index::makeFlat(position), sum);
    }
  }

  Value operand, result;
  Reduction kind;
  SmallVector<int64_t> reducedDims, keptDims, reducedShape, keptShape;
  bool lastReduced = false, flat = false;
};

template <typename OpT, Reduction kind>
struct ReductionModel
    : KernelOpInterface::ExternalModel<ReductionModel<OpT, kind>, OpT> {
  static ReductionLoops loops(Operation *op) {
    return {op->getOperand(0), op->getResult(0), cast<OpT>(op).getDims(), kind};
  }
  int64_t getTiles(Operation *op) const { return loops(op).tiles(); }
  void emitTiles(Operation *op, KernelEmitter &e, Value begin,
                 Value end) const {
    loops(op).emit(e, begin, end);
  }
  int64_t getReads(Operation *, unsigned) const { return 1; }
};

/// One line of the dim after the other; only small integer tensors use it.
struct CumsumModel : KernelOpInterface::ExternalModel<CumsumModel, CumsumOp> {
  int64_t getTiles(Operation *) const { return 1; }
  void emitTiles(Operation *operation, KernelEmitter &e, Value, Value) const {
    auto op = cast<CumsumOp>(operation);
    auto type = tensorType(op.getOperand());
    int64_t dim = op.getDim(), extent = type.getDimSize(dim);
    SmallVector<int64_t> others(type.getShape());
    others[dim] = 1;
    int64_t lines = ReductionLoops::product(others);
    Value zero = e.splat(0.0, type.getElementType());
    e.forRange(e.i64(0), e.i64(lines), 1, [&](Value line) {
      auto places = e.delinearize(e.uniform(line), others);
      e.forCarried(e.i64(0), e.i64(extent), 1, zero,
                   [&](Value step, ValueRange carried) {
                     Value place = step;
                     if (op.getReverse())
                       place =
                           arith::SubIOp::create(e.b, e.i64(extent - 1), step);
                     places[dim] = e.uniform(place);
                     Index index = e.fromDims(places);
                     Value sum =
                         e.combine(carried[0], e.at(op.getOperand(), index),
                                   Reduction::Sum);
                     e.store(op.getResult(), index, sum);
                     return SmallVector<Value>{sum};
                   });
    });
  }
  int64_t getInPlaceOperand(Operation *, unsigned) const { return 0; }
  int64_t getReads(Operation *, unsigned) const { return 1; }
};

} // namespace

void attachReductionModels(MLIRContext *context) {
  ReduceSumOp::attachInterface<ReductionModel<ReduceSumOp, Reduction::Sum>>(
      *context);
  ReduceMaxOp::attachInterface<ReductionModel<ReduceMaxOp, Reduction::Max>>(
      *context);
  CumsumOp::attachInterface<CumsumModel>(*context);
}

} // namespace smp::codegen
