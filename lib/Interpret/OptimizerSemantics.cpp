//===- OptimizerSemantics.cpp - Clipping and parameter updates -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimizer.h"
#include "Semantics.h"

#include <cmath>

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static Tensor evaluate(StepValueOp op, Operands, Context &context) {
  const StepState &step = context.step;
  double values[] = {step.learningRate, step.biasCorrection1,
                     step.biasCorrection2};
  return Tensor::scalar(DataType::F64, values[static_cast<int>(op.getWhich())]);
}

static Tensor evaluate(SumOfSquaresOp, Operands in, Context &) {
  return Tensor::filled(DataType::F64, {1}, sumOfSquares(in[0]));
}

static Tensor evaluate(ClipFactorOp op, Operands in, Context &) {
  return Tensor::scalar(
      DataType::F64,
      clipFactor(in[0].floats()[0], op.getMaxNorm().convertToDouble()));
}

static Results evaluate(AdamWOp op, Operands in, Context &) {
  AdamWSettings settings = {.rate = in[4].floats()[0],
                            .correction1 = in[5].floats()[0],
                            .correction2 = in[6].floats()[0],
                            .beta1 = op.getBeta1().convertToDouble(),
                            .beta2 = op.getBeta2().convertToDouble(),
                            .epsilon = op.getEpsilon().convertToDouble(),
                            .decay = op.getWeightDecay().convertToDouble(),
                            .coupled = op.getCoupled()};
  if (op.getGradientScale())
    settings.gradientScale = in[7].floats()[0];
  Tensor parameter = in[0], average = in[2], square = in[3];
  if (!std::isnan(settings.gradientScale))
    adamWStep(settings, in[1], parameter, average, square);
  return {parameter, average, square};
}

static Results evaluate(SgdOp op, Operands in, Context &) {
  bool buffered = static_cast<bool>(op.getMomentumBuffer());
  SgdSettings settings = {.rate = in[buffered ? 3 : 2].floats()[0],
                          .momentum = op.getMomentum().convertToDouble(),
                          .decay = op.getWeightDecay().convertToDouble()};
  if (op.getGradientScale())
    settings.gradientScale = in.back().floats()[0];
  Tensor parameter = in[0];
  Tensor buffer = buffered ? in[2] : Tensor(in[0].type(), in[0].shape());
  if (!std::isnan(settings.gradientScale))
    sgdStep(settings, in[1], parameter, buffer);
  return {parameter, buffer};
}

void attachOptimizerSemantics(MLIRContext *context) {
  attach<StepValueOp, SumOfSquaresOp, ClipFactorOp, AdamWOp, SgdOp>(context);
}

} // namespace smp::interpret
