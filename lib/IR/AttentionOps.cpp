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

/// The shape of the scores, [B, H, S, T].
static SmallVector<int64_t> scoresOf(Value query, Value key) {
  SmallVector<int64_t> shape(tensorType(query).getShape());
  shape.back() = tensorType(key).getDimSize(2);
  return shape;
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
  if (failed(verifyBias(*this, getBias(), scoresOf(getQuery(), getKey()))))
    return failure();                                 // attention_c5
  if (failed(verifyProbability(*this, getDropout()))) // attention_c6
    return failure();
  if (failed(verifyElementTypes(*this, "query, key and value",
                                {getQuery(), getKey(), getValue()})))
    return failure();                              // attention_c7
  return verifyFinite(*this, "scale", getScale()); // attention_c8
}

ShardingRule AttentionOp::getShardingRule() {
  // Masks count places of queries and keys; a bias may have dims of size 1.
  std::string bias;
  if (getBias()) {
    ArrayRef<int64_t> shape = tensorType(getBias()).getShape();
    bias = ",";
    const std::array<const char *, 4> factors = {" b", " (g r)", " S", " T"};
    for (auto [size, name] : llvm::zip_equal(shape, factors))
      bias += size == 1 ? " 1" : name;
  }
  return ShardingRule::parse(*this, "b (g r) S D, b g T D, b g T e" + bias +
                                        "-> b (g r) S e, b (g r) S");
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  types.assign({adaptor.getQuery().getType(), adaptor.getKey().getType(),
                adaptor.getValue().getType()});
  if (adaptor.getBiasGradient() && adaptor.getBias())
    types.push_back(adaptor.getBias().getType());
  return success();
}

LogicalResult AttentionGradOp::verify() {
  // attention_grad_c1, attention_grad_c2, attention_grad_c3, attention_grad_c4
  if (failed(verifyQueryKeyValue(*this, getQuery(), getKey(), getValue())))
    return failure();
  if (failed(verifyBias(*this, getBias(), scoresOf(getQuery(), getKey()))))
    return failure(); // attention_grad_c5
  if (failed(verifyProbability(*this, getDropout())))
    return failure(); // attention_grad_c6
  RankedTensorType query = tensorType(getQuery());
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = tensorType(getValue()).getShape().back();
  if (failed(verifyShape(*this, "output", getOutput(), shape)))
    return failure(); // attention_grad_c7
  if (failed(verifyShape(*this, "lse", getLse(), query.getShape().drop_back())))
    return failure(); // attention_grad_c8
  if (failed(
          verifyElementTypes(*this, "query, key, value and output",
                             {getQuery(), getKey(), getValue(), getOutput()})))
    return failure(); // attention_grad_c9
  if (getBiasGradient() &&
      (!getBias() || !isa<FloatType>(tensorType(getBias()).getElementType())))
    return emitOpError() // attention_grad_c12
           << "expects a bias of floating numbers for 'bias_gradient', got "
           << (getBias() ? "one of i1" : "none");
  return verifyFinite(*this, "scale", getScale()); // attention_grad_c10
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

ShardingRule RotaryEmbeddingOp::getShardingRule() {
  return ShardingRule::parse(*this, "... s D, s E, s E -> ... s D");
}
