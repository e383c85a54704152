//===- Limits.cpp - What integers of the data may be ----------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be followed from an input to where it chooses is checked when the
// data are opened. Elsewhere kernels give nan for what an index out of range
// chooses.
//
//===----------------------------------------------------------------------===//

#include "Limits.h"
#include "Manifest.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace smp;
using namespace smp::emit;

/// The role of an argument that is an integer input; empty for another.
static std::string integerInputRole(func::FuncOp function, unsigned argument) {
  auto binding = function.getArgAttrOfType<BindingAttr>(argument, kBindingAttr);
  if (!binding || binding.getKind() != BindingKind::Input ||
      !isa<IntegerType>(
          getElementTypeOrSelf(function.getArgumentTypes()[argument])))
    return {};
  return roleOf(function, argument);
}

static void recordBelow(func::FuncOp function, unsigned argument,
                        int64_t limit) {
  auto known = function.getArgAttrOfType<IntegerAttr>(argument, kBelowAttr);
  if (known && known.getInt() <= limit)
    return;
  function.setArgAttr(argument, kBelowAttr,
                      OpBuilder(function).getI64IntegerAttr(limit));
}

/// What an op only reads in another shape or type; null for another op.
static Value movedBy(Operation *op) {
  return isa<ReshapeOp, CastOp>(op) ? op->getOperand(0) : Value();
}

/// The choice between labels and a number, which stands for labels that do not
/// count; null where there is none.
static SelectOp choiceOfLabels(Operation *op) {
  auto select = dyn_cast<SelectOp>(op);
  bool isChoice = select && (select.getOnTrue().getDefiningOp<FillOp>() ||
                             select.getOnFalse().getDefiningOp<FillOp>());
  return isChoice ? select : SelectOp();
}

/// The integer input of this role whose elements these are.
static BlockArgument inputBehind(Value integers, StringRef role) {
  while (Operation *op = integers.getDefiningOp()) {
    if (SelectOp select = choiceOfLabels(op); select && role == "label")
      integers = select.getOnTrue().getDefiningOp<FillOp>()
                     ? select.getOnFalse()
                     : select.getOnTrue();
    else if (Value moved = movedBy(op))
      integers = moved;
    else if (auto expand = dyn_cast<ExpandOp>(op))
      integers = expand.getOperand();
    else
      return {};
  }
  auto argument = cast<BlockArgument>(integers);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  bool isInput =
      function && integerInputRole(function, argument.getArgNumber()) == role;
  return isInput ? argument : BlockArgument();
}

/// The label that a loss leaves out which picks its labels' elements: where it
/// stands, another is picked.
static std::optional<int64_t> ignoredBy(GatherOp op) {
  Operation *from = op.getIndices().getDefiningOp();
  while (from && movedBy(from))
    from = movedBy(from).getDefiningOp();
  SelectOp select = from ? choiceOfLabels(from) : SelectOp();
  auto compare =
      select ? select.getCondition().getDefiningOp<CompareOp>() : CompareOp();
  auto number =
      compare ? compare->getOperand(1).getDefiningOp<FillOp>() : FillOp();
  if (!number || compare.getPredicate() != ComparePredicate::EQ)
    return std::nullopt;
  return int64_t(number.getValue().convertToDouble());
}

static void recordBelow(BlockArgument argument, int64_t limit) {
  if (argument)
    recordBelow(cast<func::FuncOp>(argument.getOwner()->getParentOp()),
                argument.getArgNumber(), limit);
}

static int64_t sizeOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// What the runtime may check of data: tokens are below the rows of the tables
/// that they choose from (of the smallest, because each must have them all),
/// other indices below the size of their dim.
static void recordIndexLimits(ModuleOp module) {
  int64_t vocabulary = 0;
  module.walk([&](EmbeddingOp op) {
    BlockArgument argument = inputBehind(op.getIndices(), "input");
    if (!argument)
      return;
    int64_t rows = sizeOf(op.getTable(), 0);
    recordBelow(argument, rows);
    vocabulary = vocabulary ? std::min(vocabulary, rows) : rows;
  });
  module.walk([&](GatherOp op) {
    recordBelow(inputBehind(op.getIndices(), "input"),
                sizeOf(op.getOperand(), int64_t(op.getDim())));
  });
  module.walk([&](IndexOp op) {
    for (auto [dim, indices] : llvm::enumerate(op.getIndices()))
      recordBelow(inputBehind(indices, "input"),
                  sizeOf(op.getOperand(), int64_t(dim)));
  });
  if (vocabulary)
    module->setAttr(kVocabularyAttr,
                    OpBuilder(module).getI64IntegerAttr(vocabulary));
}

/// Labels are below the classes of their loss, or the number that it ignores.
/// Where the way from an input to a loss cannot be followed, as behind a shift,
/// any loss may be its own.
static void recordLabelLimits(ModuleOp module) {
  int64_t classes = 0;
  llvm::SmallSetVector<int64_t, 2> ignored;
  DenseMap<BlockArgument, llvm::SmallSetVector<int64_t, 2>> own;
  auto note = [&](Value labels, int64_t width, int64_t number) {
    classes = std::max(classes, width);
    ignored.insert(number);
    if (BlockArgument argument = inputBehind(labels, "label")) {
      recordBelow(argument, width);
      own[argument].insert(number);
    }
  };
  module.walk([&](CrossEntropyOp op) {
    auto logits = cast<RankedTensorType>(op.getLogits().getType());
    note(op.getLabels(), logits.getShape().back(), op.getIgnoreIndex());
  });
  module.walk([&](GatherOp op) {
    if (std::optional<int64_t> number = ignoredBy(op))
      note(op.getIndices(), sizeOf(op.getOperand(), int64_t(op.getDim())),
           *number);
  });
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; classes && i < function.getNumArguments(); ++i) {
      if (integerInputRole(function, i) != "label")
        continue;
      if (!function.getArgAttr(i, kBelowAttr))
        recordBelow(function, i, classes);
      auto found = function.isDeclaration() ? own.end()
                                            : own.find(function.getArgument(i));
      const auto &numbers = found == own.end() ? ignored : found->second;
      if (numbers.size() == 1)
        function.setArgAttr(
            i, kIgnoredAttr,
            OpBuilder(function).getI64IntegerAttr(numbers.front()));
    }
}

void emit::recordLimits(ModuleOp module) {
  recordIndexLimits(module);
  recordLabelLimits(module);
}
