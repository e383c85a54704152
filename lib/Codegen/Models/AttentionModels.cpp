//===- AttentionModels.cpp - Code of attention's rows ----------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is some rows of scores. A mask known when compiling leaves each row a
// range of keys: what lies outside adds exactly nothing, so skipping it does
// not change a bit. A range begins at whole vectors, whose first lanes a window
// may still hide.
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

/// What the forward and the gradient share: the rows of scores.
template <typename OpT> class ScoreRows {
public:
  ScoreRows(OpT op, KernelEmitter &e)
      : op(op), e(e), rows(op.getScores()),
        shape(tensorType(op.getScores()).getShape()) {}

  void forEach(Value begin, Value end, llvm::function_ref<void(Value)> body) {
    e.forRows(begin, end, rows.perTile(), rows.count, [&](Value index) {
      row = index;
      places = e.delinearize(e.uniform(row), shape.drop_back());
      body(row);
    });
  }

  /// Of the keys that the row sees: a multiple of the lanes at or before the
  /// first.
  Value firstKey() {
    if (!isWindow())
      return e.i64(0);
    Value first = arith::MaxSIOp::create(e.b, windowStart(), e.i64(0));
    Value inside = arith::CmpIOp::create(e.b, arith::CmpIPredicate::slt, first,
                                         e.i64(rows.width));
    first = arith::AndIOp::create(e.b, first, e.i64(-KernelEmitter::lanes));
    return arith::SelectOp::create(e.b, inside, first, e.i64(0));
  }

  /// Past the last key that the row sees.
  Value endKey() {
    MaskAttr mask = op.getMask();
    if (mask.getKind() == MaskKind::None)
      return e.i64(rows.width);
    int64_t ahead = isWindow() ? mask.getSecond() : 0;
    Value end = arith::AddIOp::create(e.b, places[2].base, e.i64(ahead + 1));
    if (mask.getKind() == MaskKind::Prefix)
      end = arith::MaxSIOp::create(e.b, end, e.i64(mask.getFirst()));
    return arith::MinSIOp::create(e.b, end, e.i64(rows.width));
  }

  Index at(const Coordinate &key) { return placeInRow(e, row, rows, key); }

  /// Scaled, with bias.
  Value score(const Coordinate &key) {
    Value value = e.at(op.getScores(), at(key));
    value = mulF(e, value, number(e, op.getScale().convertToDouble(), value));
    if (isWindow())
      value = e.select(
          e.compare(arith::CmpIPredicate::sge, key, e.uniform(windowStart())),
          value, infinity(value));
    Value bias = op.getBias();
    if (!bias)
      return value;
    SmallVector<Coordinate> place(places.begin(), places.end());
    place.push_back(key);
    for (auto [coordinate, size] :
         llvm::zip(place, tensorType(bias).getShape()))
      if (size == 1)
        coordinate = e.constant(0);
    Value added = e.at(bias, e.fromDims(place));
    if (isa<FloatType>(tensorType(bias).getElementType()))
      return addF(e, value, added);
    return e.select(added, value, infinity(value));
  }

  Value infinity(Value like) {
    return number(e, -std::numeric_limits<double>::infinity(), like);
  }
  /// Whether a score within the range may be of a key that the row does not
  /// see.
  bool mayHide() { return op.getBias() || isWindow(); }
  Value isHidden(Value score) {
    return arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, score,
                                 infinity(score));
  }

  /// Null without dropout.
  Value factor(const Coordinate &key) {
    if (op.getDropout().isZero())
      return {};
    int64_t perSample = shape[1] * shape[2] * shape[3];
    return e.convert(dropoutFactor(e, e.immediate(op, 0), perSample,
                                   at(key).coordinates[0],
                                   op.getDropout().convertToDouble()),
                     tensorType(op.getScores()).getElementType());
  }

  /// Writes zeros before `first` and from `end` on.
  void zeroRest(Value first, Value end, Value result) {
    auto zero = [&](const Coordinate &key) {
      e.store(result, at(key),
              e.splat(0.0, tensorType(result).getElementType()));
    };
    if (isWindow())
      e.forLanes(e.i64(0), first, zero);
    if (op.getMask().getKind() != MaskKind::None)
      e.forLanes(end, e.i64(rows.width), zero, /*alignment=*/1);
  }

  OpT op;
  KernelEmitter &e;
  Rows rows;
  ArrayRef<int64_t> shape;
  Value row;
  SmallVector<Coordinate, 4> places;

private:
  bool isWindow() { return op.getMask().getKind() == MaskKind::Window; }
  Value windowStart() {
    return arith::SubIOp::create(e.b, places[2].base,
                                 e.i64(op.getMask().getFirst()));
  }
};

template <typename Model, typename OpT>
struct ScoresModel : KernelOpInterface::ExternalModel<Model, OpT> {
  int64_t getTiles(Operation *op) const {
    return Rows(op->getOperand(0)).tiles();
  }
  void getImmediates(Operation *op, SmallVectorImpl<int64_t> &values) const {
    values.push_back(cast<OpT>(op).getSite());
  }
  void emitTiles(Operation *op, KernelEmitter &e, Value begin,
                 Value end) const {
    ScoreRows<OpT> rows(cast<OpT>(op), e);
    rows.forEach(begin, end, [&](Value) { Model::emitRow(rows); });
  }
};

struct SoftmaxRowsModel : ScoresModel<SoftmaxRowsModel, AttentionSoftmaxOp> {
  static void emitRow(ScoreRows<AttentionSoftmaxOp> &s) {
    KernelEmitter &e = s.e;
    Value result = s.op.getResult(), first = s.firstKey(), end = s.endKey();
    Value largest = e.reduceLanes(
        first, end, Reduction::Max,
        [&](const Coordinate &key) { return s.score(key); },
        tensorType(result).getElementType());
    // A row that sees nothing has weights of zero and a log-sum-exp of -inf.
    Value shift = e.select(s.isHidden(largest), number(e, 0, largest), largest);
    Value sum = e.reduceLanes(
        first, end, Reduction::Sum,
        [&](const Coordinate &key) {
          Value power = exp(e, subF(e, s.score(key), shift));
          e.store(result, s.at(key), power);
          return power;
        },
        tensorType(result).getElementType());
    e.store(s.op.getLse(), rowIndex(e, s.row), addF(e, shift, log(e, sum)));
    Value none = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, sum,
                                       number(e, 0, sum));
    Value inverse =
        e.select(none, number(e, 0, sum), divF(e, number(e, 1, sum), sum));
    e.forLanes(first, end, [&](const Coordinate &key) {
      Value weight = mulF(e, e.reload(result, s.at(key)), inverse);
      if (Value factor = s.factor(key))
        weight = mulF(e, weight, factor);
      e.store(result, s.at(key), weight);
    });
    s.zeroRest(first, end, result);
  }
  int64_t getInPlaceOperand(Operation *, unsigned result) const {
    return result == 0 ? 0 : -1;
  }
};

// With P the weights before dropout, M the dropout factors, W = P M:
// dS = P (M dW - rowsum(dO O)) scale.
struct SoftmaxRowsGradModel
    : ScoresModel<SoftmaxRowsGradModel, AttentionSoftmaxGradOp> {
  static void emitRow(ScoreRows<AttentionSoftmaxGradOp> &s) {
    KernelEmitter &e = s.e;
    AttentionSoftmaxGradOp op = s.op;
    Rows outputs(op.getOutput());
    Value delta = e.reduceLanes(
        outputs.width, Reduction::Sum, [&](const Coordinate &place) {
          Index index = placeInRow(e, s.row, outputs, place);
          return mulF(e, e.at(op.getCotangent(), index),
                      e.at(op.getOutput(), index));
        });
    Value lse = e.at(op.getLse(), rowIndex(e, s.row));
    Value first = s.firstKey(), end = s.endKey();
    double outer = op.getUnscaled() ? 1.0 : op.getScale().convertToDouble();
    e.forLanes(first, end, [&](const Coordinate &key) {
      Value score = s.score(key), zero = number(e, 0, score);
      Value p = exp(e, subF(e, score, lse));
      if (s.mayHide())
        p = e.select(s.isHidden(score), zero, p);
      Value weight = p, grad = e.at(op.getWeightGrad(), s.at(key));
      if (Value factor = s.factor(key)) {
        weight = mulF(e, p, factor);
        grad = mulF(e, grad, factor);
      }
      Value scoreGrad = mulF(e, p, subF(e, grad, delta));
      if (outer != 1.0)
        scoreGrad = mulF(e, scoreGrad, number(e, outer, p));
      e.store(op.getWeights(), s.at(key), weight);
      e.store(op.getScoresGrad(), s.at(key), scoreGrad);
    });
    s.zeroRest(first, end, op.getWeights());
    s.zeroRest(first, end, op.getScoresGrad());
  }
  int64_t getInPlaceOperand(Operation *, unsigned result) const {
    return result;
  }
};

/// The pairs (i, i + D/2) of the last dim, turned by the angle of the place.
struct RotaryModel
    : PointwiseOpInterface::ExternalModel<RotaryModel, RotaryEmbeddingOp> {
  void emitElements(Operation *operation, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto op = cast<RotaryEmbeddingOp>(operation);
    int64_t half = tensorType(op.getCosine()).getShape().back();
    auto places = e.dims(index, op.getResult());
    Coordinate place = places.back(), position = places[places.size() - 2];
    auto [which, pair] = e.divmod(place, half);
    Index angle = e.fromDims({position, pair});
    Value x = e.at(op.getOperand(), e.fromDims(places));
    Coordinate back = e.mul(which, -half);
    places.back() = e.add(e.add(pair, half), back);
    Value other = e.at(op.getOperand(), e.fromDims(places));
    Value turned = mulF(e, other, e.at(op.getSine(), angle));
    Value isFirst = e.compare(arith::CmpIPredicate::eq, which, e.constant(0));
    turned = e.select(isFirst, arith::NegFOp::create(e.b, turned), turned);
    results.push_back(addF(e, mulF(e, x, e.at(op.getCosine(), angle)), turned));
  }
};

} // namespace

void attachAttentionModels(MLIRContext *context) {
  AttentionSoftmaxOp::attachInterface<SoftmaxRowsModel>(*context);
  AttentionSoftmaxGradOp::attachInterface<SoftmaxRowsGradModel>(*context);
  RotaryEmbeddingOp::attachInterface<RotaryModel>(*context);
}

} // namespace smp::codegen
