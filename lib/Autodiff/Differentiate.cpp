//===- Differentiate.cpp - Backward programs and updates ------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a staged module to one with all the programs of training: per chunk a
// forward that keeps values and a backward that reads them, per rank the
// beginning and the end of a step. What happens inside a chunk is told in
// ChunkGradient.h, the programs of a rank in RankPrograms.h; here is only how
// the pieces meet: what is active flows from the first chunk to the last, and
// cotangents flow back.
//
//===----------------------------------------------------------------------===//

#include "smp/Autodiff/Differentiate.h"

#include "ChunkGradient.h"
#include "RankPrograms.h"
#include "smp/Autodiff/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace smp;

namespace smp {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "smp/Autodiff/Passes.h.inc"
} // namespace smp

/// A program is closed: all that it takes and gives has a binding.
static LogicalResult checkBindings(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!getArgumentBinding(function, i))
      return function.emitError()
             << "expects a binding of argument " << i << " of '"
             << function.getSymName() << "', got none";
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    BindingAttr binding = getResultBinding(function, i);
    if (!binding)
      return function.emitError()
             << "expects a binding of result " << i << " of '"
             << function.getSymName() << "', got none";
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[i]);
    if (binding.getKind() == BindingKind::Loss &&
        (!isDifferentiableType(type) || type.getRank() != 0))
      return function.emitError()
             << "expects a loss that is a scalar of a floating type, got "
             << function.getResultTypes()[i];
  }
  return success();
}

static LogicalResult checkChunk(ModuleOp module, ChunkOp chunk) {
  if (chunk.getBackwardAttr())
    return chunk.emitError() << "expects a chunk that has no backward yet, got "
                             << chunk.getBackwardAttr();
  return checkBindings(
      module.lookupSymbol<func::FuncOp>(chunk.getForwardAttr()));
}

/// The chunks in the order in which a microbatch visits them.
static FailureOr<SmallVector<ChunkOp>> collectChunks(ModuleOp module) {
  SmallVector<ChunkOp> chunks(module.getOps<ChunkOp>());
  if (chunks.empty()) {
    InFlightDiagnostic diagnostic =
        module.emitError("expects chunks in the module, got none");
    diagnostic.attachNote() << "run the phases partition and stage first";
    return diagnostic;
  }
  llvm::sort(chunks,
             [](ChunkOp a, ChunkOp b) { return a.getIndex() < b.getIndex(); });
  for (ChunkOp chunk : chunks)
    if (failed(checkChunk(module, chunk)))
      return failure();
  return chunks;
}

static LogicalResult checkLoss(ModuleOp module, ArrayRef<ChunkOp> chunks) {
  for (ChunkOp chunk : chunks) {
    auto forward = module.lookupSymbol<func::FuncOp>(chunk.getForward());
    for (unsigned i = 0; i < forward.getNumResults(); ++i)
      if (BindingAttr binding = getResultBinding(forward, i);
          binding && binding.getKind() == BindingKind::Loss)
        return success();
  }
  return module.emitError("expects a chunk with a loss, got none");
}

static LogicalResult buildBackwards(ModuleOp module, ArrayRef<ChunkOp> chunks,
                                    const ParameterTable &parameters) {
  std::vector<ChunkGradient> gradients;
  gradients.reserve(chunks.size());
  llvm::StringSet<> activations;
  for (ChunkOp chunk : chunks) {
    auto forward = module.lookupSymbol<func::FuncOp>(chunk.getForward());
    gradients.emplace_back(forward, parameters);
    if (failed(gradients.back().prepare(activations)))
      return failure();
  }
  llvm::StringSet<> cotangents;
  for (size_t i = chunks.size(); i-- > 0;) {
    ChunkOp chunk = chunks[i];
    std::string name = "chunk" + std::to_string(chunk.getIndex()) + "_backward";
    if (failed(gradients[i].build(module, name, cotangents)))
      return failure();
    chunk.setBackwardAttr(FlatSymbolRefAttr::get(module.getContext(), name));
  }
  return success();
}

/// A step divides by counts that some chunk must compute.
static LogicalResult checkCounts(ModuleOp module, const Holdings &holdings) {
  if (module->hasAttr(kLossSharesAttr))
    return success();
  for (const auto &[term, count] : holdings.counts)
    if (!count.readers.empty() && count.producers.empty())
      return module.emitError() << "expects a chunk that counts the loss term '"
                                << term << "', got none";
  return success();
}

static LogicalResult buildRankPrograms(ModuleOp module,
                                       const ParameterTable &parameters) {
  FailureOr<OptimizerSettings> settings = OptimizerSettings::read(module);
  if (failed(settings))
    return failure();
  Holdings holdings(module, parameters);
  if (failed(checkCounts(module, holdings)))
    return failure();
  for (int64_t rank : holdings.ranks) {
    func::FuncOp begin = buildBeginStep(module, holdings, rank);
    func::FuncOp update = buildUpdate(module, holdings, *settings, rank);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    RankOp::create(builder, module.getLoc(), "rank" + std::to_string(rank),
                   rank, begin.getSymName(), update.getSymName());
  }
  return success();
}

LogicalResult smp::differentiateChunks(ModuleOp module) {
  FailureOr<SmallVector<ChunkOp>> chunks = collectChunks(module);
  if (failed(chunks) || failed(checkLoss(module, *chunks)))
    return failure();
  ParameterTable parameters(module);
  if (failed(buildBackwards(module, *chunks, parameters)))
    return failure();
  return buildRankPrograms(module, parameters);
}

namespace {
struct DifferentiatePass
    : public smp::impl::DifferentiatePassBase<DifferentiatePass> {
  void runOnOperation() override {
    if (failed(differentiateChunks(getOperation())))
      signalPassFailure();
  }
};
} // namespace
