//===- ProgramOps.cpp - Checks of parameters, chunks and ranks -*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

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

//===----------------------------------------------------------------------===//
// Parameters and state
//===----------------------------------------------------------------------===//

static LogicalResult verifyStatic(Operation *op, Type type) {
  if (!cast<RankedTensorType>(type).hasStaticShape())
    return op->emitOpError() << "expects a static shape, got " << type;
  return success();
}

/// Whether the numbers of an initialiser describe a distribution.
static bool isDistribution(InitAttr init) {
  double a = init.getA(), b = init.getB();
  switch (init.getKind()) {
  case InitKind::Constant:
    return true;
  case InitKind::Normal:
    return std::isfinite(a) && std::isfinite(b) && b >= 0;
  case InitKind::Uniform:
    return std::isfinite(a) && std::isfinite(b) && a <= b;
  case InitKind::TruncatedNormal:
    return std::isfinite(a) && std::isfinite(b) && b >= 0 &&
           init.getLow() < init.getHigh();
  }
  return false;
}

LogicalResult ParameterOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (failed(verifyStatic(*this, type))) // parameter_c1
    return failure();
  if (!getFrozen() && !isa<FloatType>(type.getElementType())) // parameter_c2
    return emitOpError()
           << "expects floating numbers where it is not frozen, got " << type;
  InitAttr init = getInitAttr();
  if (init && !isDistribution(init))
    return emitOpError() // parameter_c3
           << "expects the numbers of a distribution, got " << init;
  if (init &&
      (init.getZeroBegin() < 0 || init.getZeroEnd() < init.getZeroBegin() ||
       init.getZeroEnd() > type.getNumElements()))
    return emitOpError() // parameter_c5
           << "expects zeroed elements of the " << type.getNumElements()
           << " that it has, got " << init.getZeroBegin() << " to "
           << init.getZeroEnd();
  return success();
}

static SmallVector<StringRef> namesOf(ParameterOp parameter) {
  SmallVector<StringRef> names = {parameter.getSymName()};
  llvm::append_range(names,
                     parameter.getAliases().getAsValueRange<StringAttr>());
  return names;
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &) {
  if (getAliases().empty()) // No two symbols are equal anyway.
    return success();
  llvm::StringSet<> mine;
  for (StringRef name : namesOf(*this))
    if (!mine.insert(name).second) // parameter_c4
      return emitOpError() << "expects every name once, got '" << name
                           << "' twice";
  for (auto other : (*this)->getParentRegion()->getOps<ParameterOp>())
    for (StringRef name : namesOf(other)) {
      if (other == *this || !mine.contains(name))
        continue;
      InFlightDiagnostic diagnostic = // parameter_c4
          emitOpError() << "expects names that no other parameter has, got '"
                        << name << "'";
      diagnostic.attachNote(other.getLoc()) << "declared here";
      return diagnostic;
    }
  return success();
}

LogicalResult StateOp::verify() {
  if (failed(verifyStatic(*this, getType()))) // state_c1
    return failure();
  std::optional<ElementsAttr> value = getValue();
  if (!value)
    return success();
  if (!isa<DenseElementsAttr>(*value)) // state_c2
    return emitOpError("expects dense elements, got others");
  if (value->getType() != getType()) // state_c2
    return emitOpError() << "expects a value of type " << getType() << ", got "
                         << value->getType();
  return success();
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

//===----------------------------------------------------------------------===//
// Chunks and ranks
//===----------------------------------------------------------------------===//

/// Checks that programs, some of which may be null, are functions with a body.
static LogicalResult verifyPrograms(Operation *op,
                                    SymbolTableCollection &tables,
                                    ArrayRef<FlatSymbolRefAttr> programs) {
  for (FlatSymbolRefAttr name : programs) {
    if (!name)
      continue;
    auto function = tables.lookupNearestSymbolFrom<func::FuncOp>(op, name);
    if (!function || function.isExternal())
      return op->emitOpError()
             << "expects a function with a body, got " << name;
  }
  return success();
}

LogicalResult ChunkOp::verify() {
  if (failed(verifyNotNegative(*this, "number", int64_t(getIndex()))))
    return failure();                                          // chunk_c1
  return verifyNotNegative(*this, "rank", int64_t(getRank())); // chunk_c1
}

LogicalResult ChunkOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyPrograms(*this, tables, // chunk_c2
                        {getCountAttr(), getForwardAttr(), getBackwardAttr(),
                         getEvaluateAttr(), getPredictAttr()});
}

LogicalResult RankOp::verify() {
  return verifyNotNegative(*this, "number", int64_t(getIndex())); // rank_c1
}

LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyPrograms(*this, tables, // rank_c2
                        {getBeginStepAttr(), getUpdateAttr()});
}
