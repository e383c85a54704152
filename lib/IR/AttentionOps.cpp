//===- AttentionOps.cpp - Inference and checks of attention -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/AttentionOps.cpp.inc"

void SmpDialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/AttentionOps.cpp.inc"
      >();
}

/// The shapes of query [B, H, S, D], key [B, G, T, D] and value [B, G, T, E]
/// must agree, and G divide H. Dims before the last three are batch dims.
static LogicalResult verifyQueryKeyValue(Operation *op, Value query, Value key,
                                         Value value) {
  RankedTensorType q = tensorType(query), k = tensorType(key),
                   v = tensorType(value);
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
    return op->emitOpError() << "expects query, key and value of rank 4, got "
                             << q << ", " << k << " and " << v;
  if (!compatibleSizes(q.getDimSize(0), k.getDimSize(0)) ||
      !compatibleSizes(q.getDimSize(3), k.getDimSize(3)))
    return op->emitOpError()
           << "expects query and key of equal batch and head size, got " << q
           << " and " << k;
  if (!compatibleShapes(k.getShape().drop_back(), v.getShape().drop_back()))
    return op->emitOpError()
           << "expects key and value that differ only in the last dim, got "
           << k << " and " << v;
  if (k.getDimSize(1) < 1 || q.getDimSize(1) % k.getDimSize(1) != 0)
    return op->emitOpError()
           << "expects a number of key heads that divides the "
           << q.getDimSize(1) << " query heads, got " << k.getDimSize(1);
  return success();
}

/// An additive (float) or allowing (i1) bias broadcasts to [B, H, S, T].
static LogicalResult verifyBias(Operation *op, Value bias, Value query,
                                Value key) {
  if (!bias)
    return success();
  RankedTensorType type = tensorType(bias), q = tensorType(query);
  int64_t scores[] = {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2),
                      tensorType(key).getDimSize(2)};
  bool fits = type.getRank() == 4;
  for (int64_t dim = 0; fits && dim < 4; ++dim)
    fits = type.getDimSize(dim) == 1 ||
           compatibleSizes(type.getDimSize(dim), scores[dim]);
  if (!fits)
    return op->emitOpError()
           << "expects a bias that broadcasts to " << shapeString(scores)
           << ", got " << shapeString(type.getShape());
  return success();
}

static LogicalResult verifyProbability(Operation *op, const APFloat &value) {
  double probability = value.convertToDouble();
  if (!(probability >= 0.0 && probability < 1.0))
    return op->emitOpError()
           << "expects a dropout probability in [0, 1), got " << probability;
  return success();
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType query = tensorType(adaptor.getQuery());
  RankedTensorType value = tensorType(adaptor.getValue());
  if (query.getRank() != 4 || value.getRank() != 4)
    return emitOptionalError(loc,
                             "expects query, key and value of rank 4, got ",
                             query, " and ", value);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  types.assign({withShape(query, shape),
                withShape(query, query.getShape().drop_back())});
  return success();
}

LogicalResult AttentionOp::verify() {
  // attention_c1, attention_c2, attention_c3, attention_c4
  if (failed(verifyQueryKeyValue(*this, getQuery(), getKey(), getValue())))
    return failure();
  if (failed(verifyBias(*this, getBias(), getQuery(), getKey())))
    return failure();                            // attention_c5
  return verifyProbability(*this, getDropout()); // attention_c6
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  types.assign({adaptor.getQuery().getType(), adaptor.getKey().getType(),
                adaptor.getValue().getType()});
  return success();
}

LogicalResult AttentionGradOp::verify() {
  // attention_grad_c1, attention_grad_c2, attention_grad_c3, attention_grad_c4
  if (failed(verifyQueryKeyValue(*this, getQuery(), getKey(), getValue())))
    return failure();
  if (failed(verifyBias(*this, getBias(), getQuery(), getKey())))
    return failure(); // attention_grad_c5
  if (failed(verifyProbability(*this, getDropout())))
    return failure(); // attention_grad_c6
  RankedTensorType query = tensorType(getQuery());
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = tensorType(getValue()).getShape().back();
  if (failed(verifyShape(*this, "output", getOutput(), shape)))
    return failure();                        // attention_grad_c7
  return verifyShape(*this, "lse", getLse(), // attention_grad_c8
                     query.getShape().drop_back());
}

LogicalResult RotaryEmbeddingOp::verify() {
  RankedTensorType type = tensorType(getOperand());
  if (type.getRank() < 2 || type.getShape().back() % 2 != 0)
    return emitOpError() // rotary_embedding_c1
           << "expects an operand [..., S, D] with even D, got " << type;
  return verifyShape(
      *this, "cosine and sine", getCosine(), // rotary_embedding_c2
      {type.getDimSize(type.getRank() - 2), type.getShape().back() / 2});
}
