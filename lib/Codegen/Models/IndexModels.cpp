//===- IndexModels.cpp - Elements chosen by integer tensors ----*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an index out of range chooses is nan, which ends the run, or 0 where
// elements are integers. The runtime checks tokens when it reads them.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

namespace {
/// A place that integers choose.
struct Choice {
  Coordinate place; ///< brought into range
  Value isInRange;
};
} // namespace

/// The integers of `tensor` at `index` as a coordinate in [0, extent).
static Choice chosen(KernelEmitter &e, Value tensor, const Index &index,
                     int64_t extent) {
  Value values = e.convert(e.at(tensor, index), e.b.getI64Type());
  bool uniform = llvm::all_of(
      index.coordinates, [](const Coordinate &c) { return c.isUniform(); });
  Coordinate place =
      uniform ? e.uniform(e.first(values)) : Coordinate{{}, 0, values, 1};
  // Negative ones are large without their sign.
  Value isInRange = arith::CmpIOp::create(e.b, arith::CmpIPredicate::ult,
                                          values, e.splat(e.i64(extent)));
  return {e.clamp(place, 0, extent - 1), isInRange};
}

static Value orNone(KernelEmitter &e, Value isInRange, Value element) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(element.getType()));
  double none = isFloat ? NAN : 0;
  return e.select(isInRange, element, number(e, none, element));
}

static Value move(EmbeddingOp op, KernelEmitter &e, const Index &index) {
  auto places = e.dims(index, op.getResult());
  Coordinate column = places.pop_back_val();
  Choice row = chosen(e, op.getIndices(), e.fromDims(places),
                      tensorType(op.getTable()).getDimSize(0));
  return orNone(e, row.isInRange,
                e.at(op.getTable(), e.fromDims({row.place, column})));
}

static Value move(GatherOp op, KernelEmitter &e, const Index &index) {
  auto places = e.dims(index, op.getResult());
  Choice choice = chosen(e, op.getIndices(), e.fromDims(places),
                         tensorType(op.getOperand()).getDimSize(op.getDim()));
  places[op.getDim()] = choice.place;
  return orNone(e, choice.isInRange, e.at(op.getOperand(), e.fromDims(places)));
}

static Value move(IndexOp op, KernelEmitter &e, const Index &index) {
  auto places = e.dims(index, op.getResult());
  auto type = tensorType(op.getOperand());
  int64_t rank = tensorType(op.getIndices().front()).getRank();
  Index where = e.fromDims(ArrayRef(places).take_front(rank));
  SmallVector<Coordinate> from;
  Value isInRange;
  for (auto [dim, indices] : llvm::enumerate(op.getIndices())) {
    Choice choice = chosen(e, indices, where, type.getDimSize(dim));
    from.push_back(choice.place);
    isInRange = isInRange
                    ? arith::AndIOp::create(e.b, isInRange, choice.isInRange)
                    : choice.isInRange;
  }
  llvm::append_range(from, ArrayRef(places).drop_front(rank));
  return orNone(e, isInRange, e.at(op.getOperand(), e.fromDims(from)));
}

//===----------------------------------------------------------------------===//
// Gradients: each tile owns some columns and visits the places in order
//===----------------------------------------------------------------------===//

namespace {

/// Lanes of the last dim, four vectors a tile.
constexpr int64_t columnsPerTile = 64;

struct EmbeddingGradModel
    : KernelOpInterface::ExternalModel<EmbeddingGradModel, EmbeddingGradOp> {
  int64_t getTiles(Operation *op) const {
    Rows rows(op->getResult(0));
    return (rows.width + columnsPerTile - 1) / columnsPerTile;
  }

  void emitTiles(Operation *op, KernelEmitter &e, Value begin,
                 Value end) const {
    auto grad = cast<EmbeddingGradOp>(op);
    Rows table(grad.getResult()), places(grad.getCotangent());
    Value low = arith::MulIOp::create(e.b, begin, e.i64(columnsPerTile));
    Value high = arith::MulIOp::create(e.b, end, e.i64(columnsPerTile));
    high = arith::MinSIOp::create(e.b, high, e.i64(table.width));
    Type type = tensorType(grad.getResult()).getElementType();
    e.forRange(e.i64(0), e.i64(table.count), 1, [&](Value row) {
      e.forLanes(low, high, [&](const Coordinate &column) {
        e.store(grad.getResult(), placeInRow(e, row, table, column),
                e.splat(0.0, type));
      });
    });
    e.forRange(e.i64(0), e.i64(places.count), 1, [&](Value place) {
      Coordinate row =
          chosen(e, grad.getIndices(), rowIndex(e, place), table.count).place;
      e.forLanes(low, high, [&](const Coordinate &column) {
        Index to = placeInRow(e, row.base, table, column);
        Value added =
            e.at(grad.getCotangent(), placeInRow(e, place, places, column));
        e.store(grad.getResult(), to,
                addF(e, e.reload(grad.getResult(), to), added));
      });
    });
  }
  int64_t getReads(Operation *, unsigned) const { return 1; }
};

/// Elements by the dims before the one that is chosen from: places of equal
/// index may lie anywhere in a block, but in no two.
struct Blocks {
  explicit Blocks(GatherGradOp grad) {
    RankedTensorType from = tensorType(grad.getCotangent()),
                     to = tensorType(grad.getResult());
    count = ShapedType::getNumElements(
        from.getShape().take_front(int64_t(grad.getDim())));
    read = count ? from.getNumElements() / count : 0;
    written = count ? to.getNumElements() / count : 0;
    perTile = std::max<int64_t>(1, elementsPerTile /
                                       std::max<int64_t>(1, read + written));
  }
  int64_t tiles() const { return (count + perTile - 1) / perTile; }

  int64_t count, read, written, perTile;

private:
  static constexpr int64_t elementsPerTile = 8192;
};

struct GatherGradModel
    : KernelOpInterface::ExternalModel<GatherGradModel, GatherGradOp> {
  int64_t getTiles(Operation *op) const {
    return std::max<int64_t>(1, Blocks(cast<GatherGradOp>(op)).tiles());
  }

  void emitTiles(Operation *op, KernelEmitter &e, Value begin,
                 Value end) const {
    auto grad = cast<GatherGradOp>(op);
    Blocks blocks(grad);
    Value first = arith::MulIOp::create(e.b, begin, e.i64(blocks.perTile));
    Value last = arith::MulIOp::create(e.b, end, e.i64(blocks.perTile));
    last = arith::MinSIOp::create(e.b, last, e.i64(blocks.count));
    auto bounds = [&](int64_t size) {
      return std::pair(arith::MulIOp::create(e.b, first, e.i64(size)),
                       arith::MulIOp::create(e.b, last, e.i64(size)));
    };
    auto [zerosBegin, zerosEnd] = bounds(blocks.written);
    e.forLanes(
        zerosBegin, zerosEnd,
        [&](const Coordinate &position) {
          e.store(grad.getResult(), Index::makeFlat(position),
                  e.splat(0.0, tensorType(grad.getResult()).getElementType()));
        },
        std::gcd(blocks.written * blocks.perTile, KernelEmitter::lanes));
    auto [placesBegin, placesEnd] = bounds(blocks.read);
    e.forRange(placesBegin, placesEnd, 1, [&](Value place) {
      Index from = Index::makeFlat(e.uniform(place));
      auto places = e.dims(from, grad.getCotangent());
      places[grad.getDim()] =
          chosen(e, grad.getIndices(), from, grad.getExtent()).place;
      Index to = e.fromDims(places);
      e.store(grad.getResult(), to,
              addF(e, e.reload(grad.getResult(), to),
                   e.at(grad.getCotangent(), from)));
    });
  }
};

} // namespace

void attachIndexModels(MLIRContext *context) {
  attachMoves<EmbeddingOp, GatherOp, IndexOp>(context);
  EmbeddingGradOp::attachInterface<EmbeddingGradModel>(*context);
  GatherGradOp::attachInterface<GatherGradModel>(*context);
}

} // namespace smp::codegen
