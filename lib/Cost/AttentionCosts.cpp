//===- AttentionCosts.cpp - Costs of attention ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostUtils.h"

#include <algorithm>

using namespace mlir;
using namespace smp;

/// Pairs of a query and a key, over all heads. Also those that a mask hides:
/// the products are computed whole, and this is how others count.
static int64_t countPairs(Value query, Value key) {
  auto queries = cast<RankedTensorType>(query.getType());
  int64_t rows = queries.getDimSize(queries.getRank() - 2);
  auto keys = cast<RankedTensorType>(key.getType());
  int64_t columns = keys.getDimSize(keys.getRank() - 2);
  int64_t heads =
      countElements(query) / std::max<int64_t>(1, rows * lastDim(query));
  return heads * rows * columns;
}

int64_t AttentionOp::getFlops() {
  // Two products and a softmax of the scores.
  int64_t perPair = 2 * lastDim(getQuery()) + 2 * lastDim(getValue()) + 5;
  return countPairs(getQuery(), getKey()) * perPair;
}

int64_t AttentionGradOp::getFlops() {
  // The scores again, then the products for three operands and for the scores.
  int64_t perPair = 6 * lastDim(getQuery()) + 4 * lastDim(getValue()) + 8;
  return countPairs(getQuery(), getKey()) * perPair;
}
