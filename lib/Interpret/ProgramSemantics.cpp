//===- ProgramSemantics.cpp - Reads of parameters and states -------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

using namespace mlir;
using namespace smp;
using namespace smp::interpret;

namespace smp::interpret {

static FailureOr<Tensor> find(Operation *op, const TensorMap *tensors,
                              StringRef what, StringRef name) {
  if (tensors)
    if (auto entry = tensors->find(std::string_view(name));
        entry != tensors->end())
      return entry->second;
  return op->emitOpError("expects a value of ")
         << what << " '" << name << "', got none";
}

static FailureOr<Tensor> evaluate(GetParameterOp op, Operands,
                                  Context &context) {
  return find(op, context.parameters, "parameter", op.getParameter());
}

static FailureOr<Tensor> evaluate(GetStateOp op, Operands, Context &context) {
  return find(op, context.states, "state", op.getState());
}

void attachProgramSemantics(MLIRContext *context) {
  attach<GetParameterOp, GetStateOp>(context);
}

} // namespace smp::interpret
