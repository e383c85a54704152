//===- RandomSemantics.cpp - Ops that draw random numbers ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static Tensor evaluate(DropoutOp op, Operands in, Context &context) {
  Tensor result = in[0];
  int64_t rows = result.dim(0);
  int64_t perSample =
      rows == 0 ? 1 : result.size() / rows * op.getRowsPerSample();
  DropoutMask mask(context.step, op.getSite(),
                   op.getProbability().convertToDouble(), perSample);
  auto elements = result.mutableFloats();
  for (int64_t element = 0; element < result.size(); ++element)
    elements[element] *= mask.factor(element);
  return result;
}

void attachRandomSemantics(MLIRContext *context) { attach<DropoutOp>(context); }

} // namespace smp::interpret
