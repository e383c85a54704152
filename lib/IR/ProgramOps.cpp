//===- ProgramOps.cpp - Checks of parameters and their uses -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

using namespace mlir;
using namespace smp;

#define GET_OP_CLASSES
#include "smp/IR/ProgramOps.cpp.inc"

void SmpDialect::registerProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "smp/IR/ProgramOps.cpp.inc"
      >();
}

/// Checks that `name` is a `SymbolOp` of type `type`.
template <typename SymbolOp>
static LogicalResult verifyUse(Operation *op, SymbolTableCollection &tables,
                               FlatSymbolRefAttr name, Type type,
                               StringRef what) {
  auto symbol = tables.lookupNearestSymbolFrom<SymbolOp>(op, name);
  if (!symbol)
    return op->emitOpError()
           << "expects the name of a " << what << ", got " << name;
  if (symbol.getType() != type) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "expects a result of type "
                                    << symbol.getType() << ", got " << type;
    diagnostic.attachNote(symbol.getLoc()) << "declared here";
    return diagnostic;
  }
  return success();
}

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &tables) {
  // get_parameter_c1, get_parameter_c2
  if (failed(verifyUse<ParameterOp>(*this, tables, getParameterAttr(),
                                    getType(), "parameter")))
    return failure();
  auto symbol =
      tables.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  bool known = getAlias() == symbol.getSymName() ||
               llvm::any_of(symbol.getAliases(), [&](Attribute alias) {
                 return cast<StringAttr>(alias).getValue() == getAlias();
               });
  if (known)
    return success();
  InFlightDiagnostic diagnostic = // get_parameter_c3
      emitOpError() << "expects a name of parameter " << getParameterAttr()
                    << ", got '" << getAlias() << "'";
  diagnostic.attachNote(symbol.getLoc()) << "declared here";
  return diagnostic;
}

LogicalResult GetStateOp::verifySymbolUses(SymbolTableCollection &tables) {
  // get_state_c1, get_state_c2
  return verifyUse<StateOp>(*this, tables, getStateAttr(), getType(), "state");
}
