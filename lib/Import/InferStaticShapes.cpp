//===- InferStaticShapes.cpp - Shapes from the sizes of arguments ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops are visited in order. What computes a size folds to a constant; an op
// that takes sizes gets them into its type; for others the type is inferred
// from the operands, by the op's own interface or because it is elementwise.
//
//===----------------------------------------------------------------------===//

#include "SpecializeSteps.h"
#include "smp/IR/SmpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/FoldUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

/// The argument's name, as diagnostics call it.
static std::string nameOf(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.str() : "argument " + std::to_string(index);
}

static LogicalResult fixArguments(func::FuncOp function,
                                  const SymbolicSizes &sizes) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(size))
        continue;
      size = dim == 0 ? sizes.rows : sizes.sequence;
      if (size > 0)
        continue;
      std::string name = nameOf(function, argument.getArgNumber());
      auto error = function.emitError()
                   << "expects a size for dim " << dim << " of input '" << name
                   << "', got none";
      error.attachNote() << "set the option '"
                         << (dim == 0 ? "rows" : "sequence") << "'";
      return failure();
    }
    argument.setType(RankedTensorType::get(shape, type.getElementType()));
  }
  return success();
}

/// Moves constant sizes into the result type.
static LogicalResult takeSizes(SizedOpInterface op) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape(type.getShape());
  OperandRange sizes = op.getSizes();
  unsigned next = 0;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    llvm::APInt value;
    if (next == sizes.size() ||
        !matchPattern(sizes[next], m_ConstantInt(&value)))
      return op.emitOpError("expects sizes that follow from the inputs', got "
                            "one that does not");
    size = value.getSExtValue();
    ++next;
  }
  op.getSizesMutable().clear();
  result.setType(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

static LogicalResult inferResults(Operation *op) {
  if (auto sized = dyn_cast<SizedOpInterface>(op))
    return takeSizes(sized);
  if (auto inferable = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> types;
    if (failed(inferable.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      result.setType(type);
    return success();
  }
  if (op->hasTrait<OpTrait::SameOperandsAndResultShape>()) {
    auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
    for (OpResult result : op->getResults())
      result.setType(cast<ShapedType>(result.getType()).clone(shape));
    return success();
  }
  if (llvm::all_of(op->getResultTypes(), isStatic))
    return success();
  return op->emitOpError("expects a shape that follows from its operands");
}

static bool computesSize(Operation *op) {
  return op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
}

LogicalResult smp::inferStaticShapes(func::FuncOp function,
                                     const SymbolicSizes &sizes) {
  if (failed(fixArguments(function, sizes)))
    return failure();
  Block &body = function.getBody().front();
  OperationFolder folder(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (computesSize(&op)) {
      if (failed(folder.tryToFold(&op)) && !matchPattern(&op, m_Constant()))
        return op.emitError("expects a size that follows from the inputs'");
      continue;
    }
    if (op.getNumResults() > 0 && failed(inferResults(&op)))
      return failure();
  }
  function.setType(FunctionType::get(function.getContext(),
                                     body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
  return success();
}
