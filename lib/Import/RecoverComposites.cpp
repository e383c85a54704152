//===- RecoverComposites.cpp - Composites from their pieces ---------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One family of patterns a file, each with its law:
//
//   RecoverArithmetic        powers as products
//   RecoverRows              linears on rows as they were
//   RecoverRmsNorm           rms_norm, with its weight
//   RecoverGelu              the tanh form
//   RecoverRotary            rotary_embedding
//   RecoverAttention         attention from products and softmax
//   RecoverGroupedAttention  grouped queries
//
// All run together until none matches. Equal ops are merged before, so that a
// pattern that asks for the same value twice finds it, and after, so that what
// the patterns made for each layer is there once.
//
//===----------------------------------------------------------------------===//

#include "RecoverPatterns.h"
#include "smp/Import/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_RECOVERCOMPOSITESPASS
#include "smp/Import/Passes.h.inc"
} // namespace smp

namespace {

struct RecoverCompositesPass
    : smp::impl::RecoverCompositesPassBase<RecoverCompositesPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateArithmeticPatterns(set);
    populateRowPatterns(set);
    populateRmsNormPatterns(set);
    populateGeluPatterns(set);
    populateRotaryPatterns(set);
    populateAttentionPatterns(set);
    populateGroupedAttentionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void mergeEqualOps() {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      IRRewriter rewriter(function.getContext());
      DominanceInfo dominance(function);
      eliminateCommonSubExpressions(rewriter, dominance, function);
    }
  }

  void runOnOperation() override {
    mergeEqualOps();
    if (failed(applyPatternsGreedily(getOperation(), patterns))) {
      getOperation().emitError("expects the composite patterns to come to an "
                               "end, got a graph on which they do not");
      return signalPassFailure();
    }
    mergeEqualOps();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
