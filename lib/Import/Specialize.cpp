//===- Specialize.cpp - Static shapes, constants and masks ----------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecializeSteps.h"
#include "smp/Import/Passes.h"
#include "smp/Interpret/Interpretable.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_SPECIALIZEPASS
#include "smp/Import/Passes.h.inc"
} // namespace smp

/// Sums over nothing, or lanes of it, are no code that kernels have. What is
/// only joined to others is folded before.
static LogicalResult verifyElements(Operation *op) {
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                llvm::to_vector(op->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() > 0)
      continue;
    InFlightDiagnostic error =
        op->emitError("expects tensors with elements, got ") << type;
    error.attachNote() << "leave out what computes with empty tensors";
    return failure();
  }
  return success();
}

LogicalResult smp::verifySpecialized(func::FuncOp function) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  WalkResult walked = function.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect != "smp" && dialect != "func") {
      op->emitError("expects only 'smp' and 'func' ops after "
                    "specialization, got '")
          << op->getName() << "'";
      return WalkResult::interrupt();
    }
    if (!llvm::all_of(op->getResultTypes(), isStatic)) {
      op->emitError("expects static shapes after specialization, got ")
          << op->getResultTypes();
      return WalkResult::interrupt();
    }
    return dialect == "smp" ? WalkResult(verifyElements(op))
                            : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

namespace {

struct SpecializePass : smp::impl::SpecializePassBase<SpecializePass> {
  using SpecializePassBase::SpecializePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SpecializePassBase::getDependentDialects(registry);
    // Constants are folded by the interpreter's semantics.
    interpret::registerInterpreter(registry);
  }

  /// Rows of the option, or of the exported example.
  int64_t chosenRows() {
    if (rows > 0)
      return rows;
    auto example = getOperation()->getAttrOfType<IntegerAttr>("smp.batch");
    return example ? example.getInt() : 0;
  }

  /// The canonical forms of all ops.
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet forms(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(forms, context);
    canonicalForms = std::move(forms);
    return success();
  }

  LogicalResult specialize(func::FuncOp function, int64_t chosen) {
    if (function.isExternal())
      return success();
    if (failed(inferStaticShapes(function, {chosen, sequence})))
      return failure();
    // Masks before the rest: they are recognised from what is folded away.
    foldAttentionMasks(function);
    foldCoordinates(function);
    if (failed(foldConstants(function)))
      return failure();
    // Folds, brings to canonical form and drops what is no longer used.
    if (failed(applyPatternsGreedily(function, canonicalForms)))
      return failure();
    IRRewriter rewriter(function.getContext());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    return verifySpecialized(function);
  }

  void runOnOperation() override {
    if (rows < 0 || sequence < 0) {
      getOperation().emitError("option 'rows' and option 'sequence' expect a "
                               "size of at least 1, got ")
          << std::min<int64_t>(rows, sequence);
      return signalPassFailure();
    }
    int64_t chosen = chosenRows();
    if (auto before = getOperation()->getAttrOfType<IntegerAttr>("smp.rows");
        before && before.getInt() != chosen) {
      InFlightDiagnostic error = getOperation().emitError("expects rows of ")
                                 << before.getInt()
                                 << ", as the module is specialized, got "
                                 << chosen;
      error.attachNote() << "give the module from before 'specialize', or the "
                            "'batch_size' and 'microbatches' it was made with";
      return signalPassFailure();
    }
    auto fixed = getOperation()->getAttrOfType<IntegerAttr>("smp.fixed_batch");
    if (fixed && chosen != fixed.getInt()) {
      InFlightDiagnostic error = getOperation().emitError("expects rows of ")
                                 << fixed.getInt()
                                 << ", as the export fixes the batch, got "
                                 << chosen;
      error.attachNote()
          << "export it with dynamic_shapes, or set 'batch_size' "
             "to as many rows for each microbatch";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(specialize(function, chosen)))
        return signalPassFailure();
    getOperation()->setAttr(
        "smp.rows",
        IntegerAttr::get(IntegerType::get(&getContext(), 64), chosen));
  }

  FrozenRewritePatternSet canonicalForms;
};

} // namespace
