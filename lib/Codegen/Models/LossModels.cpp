//===- LossModels.cpp - Code of losses -------------------------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

static Value isLabel(KernelEmitter &e, Value label, int64_t ignored) {
  return arith::CmpIOp::create(e.b, arith::CmpIPredicate::ne, label,
                               number(e, ignored, label));
}

namespace {

struct CrossEntropyRowsModel
    : KernelOpInterface::ExternalModel<CrossEntropyRowsModel,
                                       CrossEntropyRowsOp> {
  int64_t getTiles(Operation *op) const {
    return Rows(op->getOperand(0)).tiles();
  }

  void emitTiles(Operation *operation, KernelEmitter &e, Value begin,
                 Value end) const {
    auto op = cast<CrossEntropyRowsOp>(operation);
    Rows rows(op.getLogits());
    e.forRows(begin, end, rows.perTile(), rows.count,
              [&](Value row) { emitRow(op, e, rows, row); });
  }

private:
  static void emitRow(CrossEntropyRowsOp op, KernelEmitter &e, const Rows &rows,
                      Value row) {
    auto x = [&](const Coordinate &place) {
      return e.at(op.getLogits(), placeInRow(e, row, rows, place));
    };
    Value largest =
        e.reduceLanes(rows.width, Reduction::Max,
                      [&](const Coordinate &place) { return x(place); });
    Value sum =
        e.reduceLanes(rows.width, Reduction::Sum, [&](const Coordinate &place) {
          return exp(e, subF(e, x(place), largest));
        });
    Value lse = addF(e, largest, log(e, sum));
    e.store(op.getLse(), rowIndex(e, row), lse);
    Value label = e.at(op.getLabels(), rowIndex(e, row));
    Value column = e.convert(label, e.b.getI64Type());
    Coordinate place = e.clamp(e.uniform(e.first(column)), 0, rows.width - 1);
    Value isClass = arith::CmpIOp::create(e.b, arith::CmpIPredicate::ult,
                                          column, e.splat(e.i64(rows.width)));
    Value loss = subF(e, lse, x(place));
    loss = e.select(isClass, loss, number(e, NAN, loss));
    e.store(op.getLosses(), rowIndex(e, row),
            e.select(isLabel(e, label, op.getIgnoreIndex()), loss,
                     number(e, 0, loss)));
  }
};

/// (softmax - one-hot) times the cotangent; zero where ignored.
struct CrossEntropyGradModel
    : PointwiseOpInterface::ExternalModel<CrossEntropyGradModel,
                                          CrossEntropyGradOp> {
  void emitElements(Operation *operation, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto op = cast<CrossEntropyGradOp>(operation);
    auto places = e.dims(index, op.getResult());
    Index whole = e.fromDims(places);
    Coordinate column = places.pop_back_val();
    Index row = e.fromDims(places);
    Value label = e.at(op.getLabels(), row), lse = e.at(op.getLse(), row);
    Value probability = exp(e, subF(e, e.at(op.getLogits(), whole), lse));
    Value here =
        arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq, e.lanesOf(column),
                              e.convert(label, e.b.getI64Type()));
    Value one = number(e, 1, probability), zero = number(e, 0, probability);
    Value difference = subF(e, probability, e.select(here, one, zero));
    Value gradient = mulF(e, e.scalarAt(op.getCotangent()), difference);
    results.push_back(
        e.select(isLabel(e, label, op.getIgnoreIndex()), gradient, zero));
  }
  bool readsSamePlace(Operation *, unsigned operand) const {
    return operand == 1; // the logits
  }
};

struct LabelCountModel
    : KernelOpInterface::ExternalModel<LabelCountModel, LabelCountOp> {
  int64_t getTiles(Operation *) const { return 1; }
  void emitTiles(Operation *operation, KernelEmitter &e, Value, Value) const {
    auto op = cast<LabelCountOp>(operation);
    int64_t count = tensorType(op.getLabels()).getNumElements();
    Value sum =
        e.reduceLanes(count, Reduction::Sum, [&](const Coordinate &place) {
          Value label = e.at(op.getLabels(), Index::makeFlat(place));
          return e.convert(isLabel(e, label, op.getIgnoreIndex()),
                           e.b.getI64Type());
        });
    e.store(op.getResult(), Index::makeFlat(e.constant(0)), sum);
  }
  int64_t getReads(Operation *, unsigned) const { return 1; }
};

} // namespace

static Value formula(MeanLossOp, KernelEmitter &e, ArrayRef<Value> in) {
  Value count = e.convert(in[1], getElementTypeOrSelf(in[0].getType()));
  Value none = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, count,
                                     number(e, 0, count));
  return e.select(none, number(e, 0, count), divF(e, in[0], count));
}

void attachLossModels(MLIRContext *context) {
  CrossEntropyRowsOp::attachInterface<CrossEntropyRowsModel>(*context);
  CrossEntropyGradOp::attachInterface<CrossEntropyGradModel>(*context);
  LabelCountOp::attachInterface<LabelCountModel>(*context);
  attachElementwise<MeanLossOp>(context);
}

} // namespace smp::codegen
