//===- OptimizerModels.cpp - Code of clipping and updates ------*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers of the step are f64; they are combined in f64 and rounded once to the
// type of the parameters.
//
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Register.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace smp;
using namespace smp::codegen;

namespace smp::codegen {

namespace {

/// Numbers of the step, as scalars.
class StepNumbers {
public:
  StepNumbers(KernelEmitter &e, Type type) : e(e), type(type) {}

  Value get(Value tensor) { return e.first(e.scalarAt(tensor)); }
  Value constant(double value) {
    return arith::ConstantOp::create(e.b, e.b.getF64FloatAttr(value));
  }
  /// In all lanes, rounded.
  Value round(Value scalar) {
    if (!type.isF64())
      scalar = arith::TruncFOp::create(e.b, type, scalar);
    return e.splat(scalar);
  }
  Value gradient(Value elements, Value scale) {
    return scale ? mulF(e, elements, round(get(scale))) : elements;
  }
  /// The new value, or the old one where the scale is not a number.
  Value unlessLeftOut(Value fresh, Value old, Value scale) {
    if (!scale)
      return fresh;
    Value factor = round(get(scale));
    Value isNumber =
        arith::CmpFOp::create(e.b, arith::CmpFPredicate::ORD, factor, factor);
    return e.select(isNumber, fresh, old);
  }

private:
  KernelEmitter &e;
  Type type;
};

struct AdamWModel : PointwiseOpInterface::ExternalModel<AdamWModel, AdamWOp> {
  void emitElements(Operation *operation, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto op = cast<AdamWOp>(operation);
    Type type = tensorType(op.getParameter()).getElementType();
    StepNumbers step(e, type);
    double beta1 = op.getBeta1().convertToDouble();
    double beta2 = op.getBeta2().convertToDouble();
    double decay = op.getWeightDecay().convertToDouble();
    auto c = [&](double value) { return e.splat(value, type); };

    Value rate = step.get(op.getLearningRate());
    Value keep = step.round(
        subF(e, step.constant(1), mulF(e, rate, step.constant(decay))));
    Value stepSize =
        step.round(divF(e, rate, step.get(op.getBiasCorrection1())));
    Value root = step.round(
        math::SqrtOp::create(e.b, step.get(op.getBiasCorrection2())));

    Value scale = op.getGradientScale();
    Value g = step.gradient(e.at(op.getGradient(), index), scale);
    Value oldP = e.at(op.getParameter(), index), p = oldP;
    if (op.getCoupled())
      g = addF(e, g, mulF(e, c(decay), p));
    else
      p = mulF(e, p, keep);
    Value oldM = e.at(op.getExpAvg(), index),
          oldV = e.at(op.getExpAvgSq(), index);
    Value m = addF(e, mulF(e, c(beta1), oldM), mulF(e, c(1 - beta1), g));
    Value v =
        addF(e, mulF(e, c(beta2), oldV), mulF(e, mulF(e, c(1 - beta2), g), g));
    Value deviation = addF(e, divF(e, sqrt(e, v), root),
                           c(op.getEpsilon().convertToDouble()));
    p = subF(e, p, divF(e, mulF(e, stepSize, m), deviation));
    results.append({step.unlessLeftOut(p, oldP, scale),
                    step.unlessLeftOut(m, oldM, scale),
                    step.unlessLeftOut(v, oldV, scale)});
  }
  bool needsCoordinates(Operation *) const { return false; }
};

struct SgdModel : PointwiseOpInterface::ExternalModel<SgdModel, SgdOp> {
  void emitElements(Operation *operation, KernelEmitter &e, const Index &index,
                    SmallVectorImpl<Value> &results) const {
    auto op = cast<SgdOp>(operation);
    Type type = tensorType(op.getParameter()).getElementType();
    StepNumbers step(e, type);
    auto c = [&](const APFloat &value) {
      return e.splat(value.convertToDouble(), type);
    };
    Value scale = op.getGradientScale();
    Value old = e.at(op.getParameter(), index);
    Value g = step.gradient(e.at(op.getGradient(), index), scale);
    g = addF(e, g, mulF(e, c(op.getWeightDecay()), old));
    Value momentum = g;
    if (Value buffer = op.getMomentumBuffer()) {
      Value before = e.at(buffer, index);
      g = addF(e, mulF(e, c(op.getMomentum()), before), g);
      momentum = step.unlessLeftOut(g, before, scale);
    }
    Value rate = step.round(step.get(op.getLearningRate()));
    Value p = subF(e, old, mulF(e, rate, g));
    results.append({step.unlessLeftOut(p, old, scale), momentum});
  }
  bool needsCoordinates(Operation *) const { return false; }
};

struct StepValueModel
    : PointwiseOpInterface::ExternalModel<StepValueModel, StepValueOp> {
  void emitElements(Operation *op, KernelEmitter &e, const Index &,
                    SmallVectorImpl<Value> &results) const {
    static constexpr StepField fields[] = {StepField::LearningRate,
                                           StepField::BiasCorrection1,
                                           StepField::BiasCorrection2};
    auto which = static_cast<unsigned>(cast<StepValueOp>(op).getWhich());
    results.push_back(e.splat(e.stepField(fields[which], e.b.getF64Type())));
  }
  bool needsCoordinates(Operation *) const { return false; }
  bool isMove(Operation *) const { return true; }
};

/// One tile: f64 partial sums keep it accurate.
struct SumOfSquaresModel
    : KernelOpInterface::ExternalModel<SumOfSquaresModel, SumOfSquaresOp> {
  int64_t getTiles(Operation *) const { return 1; }
  void emitTiles(Operation *operation, KernelEmitter &e, Value, Value) const {
    auto op = cast<SumOfSquaresOp>(operation);
    int64_t count = tensorType(op.getOperand()).getNumElements();
    Value sum =
        e.reduceLanes(count, Reduction::Sum, [&](const Coordinate &place) {
          Value x = e.convert(e.at(op.getOperand(), Index::makeFlat(place)),
                              e.b.getF64Type());
          return mulF(e, x, x);
        });
    e.store(op.getResult(), Index::makeFlat(e.constant(0)), sum);
  }
  int64_t getReads(Operation *, unsigned) const { return 1; }
};

} // namespace

static Value formula(ClipFactorOp op, KernelEmitter &e, ArrayRef<Value> in) {
  Value norm = addF(e, sqrt(e, in[0]), number(e, 1e-6, in[0]));
  Value factor =
      divF(e, number(e, op.getMaxNorm().convertToDouble(), in[0]), norm);
  Value one = number(e, 1, in[0]);
  // A norm that is not a number is above no limit, and stays.
  Value above =
      arith::CmpFOp::create(e.b, arith::CmpFPredicate::OGT, factor, one);
  return e.select(above, one, factor);
}

void attachOptimizerModels(MLIRContext *context) {
  AdamWOp::attachInterface<AdamWModel>(*context);
  SgdOp::attachInterface<SgdModel>(*context);
  StepValueOp::attachInterface<StepValueModel>(*context);
  SumOfSquaresOp::attachInterface<SumOfSquaresModel>(*context);
  attachElementwise<ClipFactorOp>(context);
}

} // namespace smp::codegen
