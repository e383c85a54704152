//===- ImportActivations.cpp - Import of activations in pieces ------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activations that raw graphs have whole and the dialect in pieces.
//
//===----------------------------------------------------------------------===//

#include "ImportTable.h"

using namespace mlir;
using namespace smp;

/// Builds on one tensor and numbers.
namespace {
struct Pieces {
  NodeImporter &n;

  Tensor number(double value, const Tensor &like) {
    return n.fill(value, like.element(), like.shape);
  }
  Tensor plus(const Tensor &x, double value) {
    return n.binary<AddOp>(x, number(value, x));
  }
  Tensor times(const Tensor &x, double value) {
    return n.binary<MulOp>(x, number(value, x));
  }
  /// min(max(x, low), high).
  Tensor clamp(const Tensor &x, double low, double high) {
    return atMost(n, atLeast(n, x, number(low, x)), number(high, x));
  }
  Tensor isPositive(const Tensor &x) {
    return n.compare(ComparePredicate::GT, x, number(0.0, x));
  }
  /// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which no x makes
  /// overflow. At 0 the maximum's slope is 1/2, which is that of the whole.
  Tensor softplus(const Tensor &x) {
    Tensor small = n.unary<ExpOp>(n.unary<NegOp>(n.unary<AbsOp>(x)));
    Tensor log = n.unary<LogOp>(plus(small, 1.0));
    return n.binary<AddOp>(n.binary<MaximumOp>(x, number(0.0, x)), log);
  }
};
} // namespace

/// x, or slope · x below zero.
static LogicalResult importLeakyRelu(NodeImporter &n) {
  Pieces p{n};
  Tensor x = n.tensor("self");
  Tensor below = p.times(x, n.number("negative_slope", 0.01));
  return n.give(n.select(p.isPositive(x), x, below));
}

/// x, or weight · x below zero; the weight is one number, or one a channel.
static LogicalResult importPRelu(NodeImporter &n) {
  Pieces p{n};
  Tensor x = n.tensor("self"), weight = n.tensor("weight");
  if (x.rank() > 1 && weight.rank() == 1 && weight.shape[0] == x.shape[1])
    weight = n.expand(weight, x.shape, {1});
  else if (elementsOf(weight.shape) == pt2::SizeExpr(1))
    weight = n.expand(n.reshape(weight, {}), x.shape, {});
  else
    weight = n.broadcast(weight, x.shape);
  if (n.refused())
    return failure();
  return n.give(n.select(p.isPositive(x), x, n.binary<MulOp>(weight, x)));
}

/// scale · x, or scale · alpha · (exp(input_scale · x) - 1) below zero.
static LogicalResult giveElu(NodeImporter &n, double alpha, double scale,
                             double inputScale) {
  Pieces p{n};
  Tensor x = n.tensor("self");
  // The branch that is not taken must not overflow: its gradient would be NaN.
  Tensor low = n.select(p.isPositive(x), p.number(0.0, x), x);
  Tensor exp = n.unary<ExpOp>(p.times(low, inputScale));
  Tensor below = p.times(p.plus(exp, -1.0), scale * alpha);
  return n.give(n.select(p.isPositive(x), p.times(x, scale), below));
}

static LogicalResult importElu(NodeImporter &n) {
  return giveElu(n, n.number("alpha", 1.0), n.number("scale", 1.0),
                 n.number("input_scale", 1.0));
}

/// Klambauer and others, Self-Normalizing Neural Networks, 2017.
static LogicalResult importSelu(NodeImporter &n) {
  return giveElu(n, 1.6732632423543772, 1.0507009873554805, 1.0);
}

static LogicalResult importCelu(NodeImporter &n) {
  double alpha = n.number("alpha", 1.0);
  return giveElu(n, alpha, 1.0, 1.0 / alpha);
}

static LogicalResult importSoftplus(NodeImporter &n) {
  Pieces p{n};
  Tensor x = n.tensor("self");
  double beta = n.number("beta", 1.0), threshold = n.number("threshold", 20.0);
  Tensor scaled = p.times(x, beta);
  Tensor soft = p.times(p.softplus(scaled), 1.0 / beta);
  Tensor large =
      n.compare(ComparePredicate::GT, scaled, p.number(threshold, x));
  return n.give(n.select(large, x, soft));
}

/// -log(1 + exp(-x)).
static LogicalResult importLogSigmoid(NodeImporter &n) {
  Pieces p{n};
  Tensor x = n.tensor("self");
  return n.give(n.unary<NegOp>(p.softplus(n.unary<NegOp>(x))));
}

/// x · tanh(softplus(x)).
static LogicalResult importMish(NodeImporter &n) {
  Pieces p{n};
  Tensor x = n.tensor("self");
  return n.give(n.binary<MulOp>(x, n.unary<TanhOp>(p.softplus(x))));
}

static LogicalResult importHardTanh(NodeImporter &n) {
  Pieces p{n};
  return n.give(p.clamp(n.tensor("self"), n.number("min_val", -1.0),
                        n.number("max_val", 1.0)));
}

static LogicalResult importRelu6(NodeImporter &n) {
  Pieces p{n};
  return n.give(p.clamp(n.tensor("self"), 0.0, 6.0));
}

/// min(max(x + 3, 0), 6) / 6.
static Tensor hardSigmoid(NodeImporter &n, const Tensor &x) {
  Pieces p{n};
  Tensor clamped = p.clamp(p.plus(x, 3.0), 0.0, 6.0);
  return n.binary<DivOp>(clamped, p.number(6.0, x));
}

static LogicalResult importHardSigmoid(NodeImporter &n) {
  return n.give(hardSigmoid(n, n.tensor("self")));
}

static LogicalResult importHardSwish(NodeImporter &n) {
  Tensor x = n.tensor("self");
  return n.give(n.binary<MulOp>(x, hardSigmoid(n, x)));
}

/// a · σ(b), of the halves a and b of a dim.
static LogicalResult importGlu(NodeImporter &n) {
  Tensor x = n.tensor("self");
  int64_t dim = n.dim("dim", -1, x.rank());
  std::optional<int64_t> size =
      n.refused() ? std::nullopt : x.shape[dim].constant();
  if (!size || *size % 2 != 0)
    return n.refuse("of a dim without halves");
  Tensor a = n.slice(x, dim, 0, *size / 2);
  Tensor b = n.slice(x, dim, *size / 2, *size);
  return n.give(n.binary<MulOp>(a, n.unary<SigmoidOp>(b)));
}

/// self + value · tensor1 ∘ tensor2.
template <typename Op> static LogicalResult importAddProduct(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor self = operandAs(n, "self", element, shape);
  Tensor product = n.binary<Op>(operandAs(n, "tensor1", element, shape),
                                operandAs(n, "tensor2", element, shape));
  if (double value = n.number("value", 1.0); value != 1.0)
    product = n.binary<MulOp>(product, n.fill(value, element, shape));
  if (n.refused())
    return failure();
  return n.give(n.binary<AddOp>(self, product));
}

/// self + weight · (end - self).
static LogicalResult importLerp(NodeImporter &n) {
  Type element = n.resultElement();
  const Shape &shape = n.resultShape();
  Tensor self = operandAs(n, "self", element, shape);
  Tensor end = operandAs(n, "end", element, shape);
  Tensor weight = operandAs(n, "weight", element, shape);
  if (n.refused())
    return failure();
  Tensor step = n.binary<MulOp>(weight, n.binary<SubOp>(end, self));
  return n.give(n.binary<AddOp>(self, step));
}

/// A dropout of whole channels, which the dialect has not.
static LogicalResult importFeatureDropout(NodeImporter &n) {
  if (n.flag("train", true) && n.number("p", 0.5) != 0.0)
    return n.refuse("that is active");
  return n.give(n.tensor("input"));
}

ArrayRef<ImportRule> smp::activationRules() {
  static const ImportRule rules[] = {
      {"aten.leaky_relu.default", importLeakyRelu, "self"},
      {"aten.elu.default", importElu, "self"},
      {"aten.selu.default", importSelu, "self"},
      {"aten.celu.default", importCelu, "self"},
      {"aten.prelu.default", importPRelu, "self weight"},
      {"aten._prelu_kernel.default", importPRelu, "self weight"},
      {"aten.softplus.default", importSoftplus, "self"},
      {"aten.log_sigmoid.default", importLogSigmoid, "self"},
      {"aten.mish.default", importMish, "self"},
      {"aten.hardtanh.default", importHardTanh, "self"},
      {"aten.relu6.default", importRelu6, "self"},
      {"aten.hardsigmoid.default", importHardSigmoid, "self"},
      {"aten.hardswish.default", importHardSwish, "self"},
      {"aten.glu.default", importGlu, "self"},
      {"aten.addcmul.default", importAddProduct<MulOp>, "self tensor1 tensor2"},
      {"aten.addcdiv.default", importAddProduct<DivOp>, "self tensor1 tensor2"},
      {"aten.lerp.Scalar", importLerp, "self end"},
      {"aten.lerp.Tensor", importLerp, "self end weight"},
      {"aten.feature_dropout.default", importFeatureDropout, "input"},
      {"aten.alpha_dropout.default", importFeatureDropout, "input"},
  };
  return rules;
}
