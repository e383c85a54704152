//===- ArithSemantics.cpp - Index arithmetic on sizes --------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static FailureOr<Tensor> evaluate(arith::ConstantOp op, Operands, Context &) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()))
    return Tensor::index(integer.getInt());
  return op.emitOpError("expects an integer, got ") << op.getValue();
}

static Tensor evaluate(arith::AddIOp, Operands in, Context &) {
  return Tensor::index(in[0].integer() + in[1].integer());
}

static Tensor evaluate(arith::SubIOp, Operands in, Context &) {
  return Tensor::index(in[0].integer() - in[1].integer());
}

static Tensor evaluate(arith::MulIOp, Operands in, Context &) {
  return Tensor::index(in[0].integer() * in[1].integer());
}

/// The divisor, which must not be zero.
static FailureOr<int64_t> divisorOf(Operation *op, Operands in) {
  if (in[1].integer() == 0)
    return op->emitOpError("expects a divisor that is not 0, got 0");
  return in[1].integer();
}

static FailureOr<Tensor> evaluate(arith::DivSIOp op, Operands in, Context &) {
  FailureOr<int64_t> divisor = divisorOf(op, in);
  if (failed(divisor))
    return failure();
  return Tensor::index(in[0].integer() / *divisor);
}

static FailureOr<Tensor> evaluate(arith::FloorDivSIOp op, Operands in,
                                  Context &) {
  FailureOr<int64_t> divisor = divisorOf(op, in);
  if (failed(divisor))
    return failure();
  int64_t quotient = in[0].integer() / *divisor;
  int64_t rest = in[0].integer() % *divisor;
  bool below = rest != 0 && (rest < 0) != (*divisor < 0);
  return Tensor::index(quotient - below);
}

static FailureOr<Tensor> evaluate(arith::RemSIOp op, Operands in, Context &) {
  FailureOr<int64_t> divisor = divisorOf(op, in);
  if (failed(divisor))
    return failure();
  return Tensor::index(in[0].integer() % *divisor);
}

static Tensor evaluate(arith::MaxSIOp, Operands in, Context &) {
  return Tensor::index(std::max(in[0].integer(), in[1].integer()));
}

static Tensor evaluate(arith::MinSIOp, Operands in, Context &) {
  return Tensor::index(std::min(in[0].integer(), in[1].integer()));
}

void attachArithSemantics(MLIRContext *context) {
  attach<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
         arith::DivSIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::MaxSIOp,
         arith::MinSIOp>(context);
}

} // namespace smp::interpret
